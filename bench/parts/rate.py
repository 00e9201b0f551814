#!/usr/bin/env python3
"""How many sums one lcore sends a second of its own running time: rate.py TELEMETRY PREFIX MILLISECONDS FILE. Waits until the lcore
has run that long. Fails if not every frame has brought a sum."""
import json
import subprocess
import sys
import time

TOOL, PREFIX, RAN_MS, RECORD = sys.argv[1:]


def ask(command):
    return json.loads(subprocess.check_output([TOOL, PREFIX, command]))


def sample():
    """The counters halfway between before and after the lcore's time was read."""
    before, ran_ms, after = ask("/swagg/counters"), ask("/swagg/lcore,1")["ran_ms"], ask("/swagg/counters")
    return ran_ms, *((before[name] + after[name]) / 2 for name in ("results", "gradients"))


def main():
    first = last = sample()
    give_up = time.monotonic() + 300
    while last[0] - first[0] < int(RAN_MS) and time.monotonic() < give_up:
        time.sleep(0.05)
        last = sample()
    ran_ms, results, gradients = (b - a for a, b in zip(first, last))
    if ran_ms < int(RAN_MS) or results < 0.99 * gradients:
        sys.exit(f"the lcore ran for {ran_ms} ms; {results:.0f} sums for {gradients:.0f} frames")
    with open(RECORD, "w") as f:
        json.dump({"answers_pps": 1000 * results / ran_ms}, f)


main()
