#!/usr/bin/python3
"""How often packets go through the pipeline, and what that leaves of ports of 100 Gbit/s, counted in the interpreted program: passes.py
[--check FILE]. Prints a table; --check: whether the file has it, line by line."""
import argparse
import sys
from pathlib import Path

from rig import Switch, data, frame, workers

from control import plan

PORT, BESIDE, RANKS = 100, 24, 8  # Gbit/s; bytes of preamble, gap and checksum beside each frame; workers of the job
HEAD = """| elements | chip | passes: a contribution, the last one, an answer | comes back, Gbit/s | elements added, Gbit/s | ... with one port for what comes back |
|---:|---|---|---:|---:|---:|"""


def send(switch, worker, packet):
    """(passes, bytes that came back on the wire) of one packet."""
    before, back = switch.chip.passes, 0
    switch.chip.step(worker.egress, packet)
    while switch.chip.waiting:
        again = switch.chip.waiting.popleft()
        back += len(again[1]) + BESIDE
        switch.chip.step(*again)
    return switch.chip.passes - before, back


def row(chip, elements):
    """Of a chunk of a job, to which all workers contribute at the rate of their ports."""
    switch, people = Switch(chip), workers(RANKS)
    switch.open(plan.Job(1, elements, 4, people))
    packets = [frame(w, data(elements, 1, 0, 0, 0, 1, 2, [1] * elements)) for w in people]
    found = [send(switch, w, packet) for w, packet in zip(people, packets)]
    answer, _ = send(switch, people[0], packets[0])
    wire = len(packets[0]) + BESIDE
    back = PORT * sum(b for _, b in found) / wire
    added = RANKS * PORT * 4 * elements / wire
    bounded = added * min(1, PORT / back) if back else added
    return f"| {elements} | {chip} | {found[0][0]}, {found[-1][0]}, {answer} | {back:.0f} | {added:.0f} | {bounded:.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", type=Path)
    options = parser.parse_args()
    table = [*HEAD.split("\n"), *(row(chip, n) for n in plan.ELEMENTS for chip in plan.CHIPS)]
    print("\n".join(table))
    if options.check:
        sys.exit(0 if "\n".join(table) in options.check.read_text() else f"{options.check} has another table")


if __name__ == "__main__":
    main()
