#!/usr/bin/python3
"""Packets and what is answered to them, made by the core: vectors.py CORE_SWITCH compares the core, and the P4 program on
both chips, with tests/p4/vectors.txt; vectors.py CORE_SWITCH --make writes that file."""
import random
import sys
from pathlib import Path

from rig import FIRST_PORT, Core, Switch, data, expected, workers

from control import plan

FILE = Path(__file__).resolve().parent / "vectors.txt"


class Script:
    """The packets: lines "open ..." and "packet ..." as core_switch reads them."""

    def __init__(self):
        self.lines, self.random, self.people = [], random.Random(16), 0

    def open(self, number, elements, slots, n, first_tag=0, labelled=False):
        self.job = plan.Job(number, elements, slots, workers(n, self.people), first_tag, labelled)
        self.people += n
        members = " ".join(f"{w.ip:x}:{w.port}" for w in self.job.workers)
        self.lines.append(f"open {number} {slots} {4 * elements} {first_tag} {int(labelled)} {members}")

    def send(self, rank, tag, values, e0=0, e1=0, number=None, place=None):
        job = self.job
        ver, slot = place or (tag // job.slots % 2, tag % job.slots)
        payload = data(job.elements, job.number if number is None else number, tag, ver, slot, e0, e1, values)
        w = job.workers[rank]
        self.lines.append(f"packet {w.ip:x}:{w.port} {payload.hex()}")

    def values(self):
        return [self.random.choice((0, 1, 0x7FFFFFFF, 0x80000000, self.random.getrandbits(32))) for _ in range(self.job.elements)]

    def chunk(self, tag, place=None, number=None, bare=False):
        """A chunk of all ranks: the first comes twice, the last asks once more."""
        sent = []
        for rank in range(len(self.job.workers)):
            sent.append((rank, tag, () if bare else self.values(), self.random.randrange(-128, 128), self.random.randrange(-128, 128)))
            self.send(*sent[-1], number=number, place=place)
            if rank == 0:
                self.send(*sent[0], number=number, place=place)
        self.send(*sent[-1], number=number, place=place)
        return sent


def script():
    s = Script()
    for number, elements in enumerate(plan.ELEMENTS, 1):
        s.open(number, elements, 2, 2, first_tag=(1 << 32) - 2)
        for tag in ((1 << 32) - 2, (1 << 32) - 1, 0):
            s.chunk(tag % (1 << 32), bare=tag == 0)
    s.open(10, 32, 4, 3, first_tag=100)  # what is no part of a sum
    first = s.chunk(100)
    s.chunk(104)
    for rank, tag, values, e0, e1 in s.chunk(108):
        s.send(rank, tag, values, e0, e1, place=(0, 1))
        s.send(rank, tag, values, e0, e1, number=99)
    s.send(*first[0])
    s.open(11, 64, 2, 1, first_tag=7)  # one rank
    s.chunk(7)
    s.chunk(8)
    s.open(12, 32, 2, 32, first_tag=1)  # as many as a job can have
    s.chunk(1)
    s.open(13, 32, 2, 2, labelled=True)  # published clients: the same slot in two tensors
    for i, (tensor, packet) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        s.chunk(packet, place=(i // 2 % 2, i % 2), number=tensor)
    return s.lines


def answers(core):
    """Each line with what the core answers."""
    for line in script():
        yield f"{line} => {' '.join(core.ask(line))}"


def replay(lines, chip):
    """Sends the same through the P4 program; complains where it differs."""
    switch, people = Switch(chip), {}
    for number, line in enumerate(lines, 1):
        asked, answer = line.split(" => ")
        kind, *words = asked.split()
        if kind == "open":
            job = read_job(words)
            people[job.number] = job.workers
            switch.open(job)
            continue
        worker = next(w for p in people.values() for w in p if f"{w.ip:x}:{w.port}" == words[0])
        reason, to, payload = answer.split()
        members = next(p for p in people.values() if worker in p)
        got, out = switch.send(worker, bytes.fromhex(words[1]))
        want = expected(to, worker, b"" if payload == "-" else bytes.fromhex(payload), members)
        if got != reason or dict(out) != want or len(out) != len(want):
            raise SystemExit(f"{FILE.name}:{number}: the program on {chip} says {got} and sends {len(out)}, not {reason}, {len(want)}")


def read_job(words):
    number, slots, chunk_bytes, first_tag, labelled = map(int, words[:5])
    known = workers(len(words) - 5, int(words[5].split(":")[1]) - FIRST_PORT)
    return plan.Job(number, chunk_bytes // 4, slots, known, first_tag, bool(labelled))


def main():
    core = Core(sys.argv[1])
    made = list(answers(core))
    core.stop()
    if sys.argv[2:] == ["--make"]:
        FILE.write_text("\n".join(made) + "\n")
        return
    lines = FILE.read_text().splitlines()
    for number, (now, then) in enumerate(zip(made, lines, strict=True), 1):
        if now != then:
            raise SystemExit(f"{FILE.name}:{number}: the core answers otherwise today: {now[-200:]}")
    for chip in plan.CHIPS:
        replay(lines, chip)
    print(f"{len(lines)} lines: the core and the program on {' and '.join(plan.CHIPS)} answer alike")


if __name__ == "__main__":
    main()
