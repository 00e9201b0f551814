#!/usr/bin/python3
"""Random sequences of packets through the P4 program and through the core: side_by_side.py CORE_SWITCH [--packets N]
[--seed SEED] [--chip tofino|tofino2]. Whatever leaves the one must leave the other, bit for bit, and be counted under the
same name; what a worker gets must be the sum of what was sent. Prints the seed of a sequence that differs.

One difference is known, and held to be just this (docs/tofino.md): the program answers a copy of the chunk before the
one that its slot completed last with its sum, which it still has, while the core calls it stale."""
import argparse
import random
import sys

from crowd import Crowd
from rig import ROOT, Core, Switch, expected, result, workers

SHAPES = ((1, 32, 2, False), (2, 32, 4, False), (3, 64, 8, False), (2, 64, 4, True), (4, 128, 4, False), (32, 64, 2, False),
          (5, 32, 16, True), (3, 256, 4, False), (2, 256, 2, True), (8, 64, 64, False), (2, 128, 8, True))


class Differs(Exception):
    pass


def label_of(payload):
    """(job byte, tag, version, slot)"""
    index = int.from_bytes(payload[6:8], "big")
    return payload[1], int.from_bytes(payload[2:6], "little"), index >> 15, index & 0x3FFF


class Pair:
    """The two switches, and the packets between them and a crowd."""

    def __init__(self, core, chip, seed, program=ROOT / "p4/swagg.p4", spoiled=0.02):
        self.spoiled = spoiled  # share of packets that are damaged
        self.random = random.Random(seed)
        self.core, self.switch = Core(core), Switch(chip, program)
        self.crowd = Crowd(self.random, self.random.sample(SHAPES, 3))
        self.sent = self.results = 0
        self.reasons = {}
        self.people = []  # workers of each place
        for place, shape in enumerate(self.crowd.shapes):
            self.people.append(workers(shape[0], sum(map(len, self.people))))
            self.begin(place)

    def begin(self, place):
        life = self.crowd.begin(place, self.people[place])
        self.switch.open(life.job)
        self.core.open(life.job)

    def again(self, place):
        """A joined job ends, and the same processes are in a new one at once."""
        life = self.crowd.lives[place]
        if life.job.labelled:
            return
        self.switch.close(life.job.number)
        self.core.close(life.job.number)
        self.begin(place)

    def spoil(self, worker, payload):
        """The packet with something wrong in it; None: unharmed."""
        life = next(x for x in self.crowd.lives.values() if worker in x.job.workers)
        if life.job.labelled:
            return None
        what = self.random.randrange(6)
        if what == 0:
            return worker, payload[:1] + bytes([self.random.randrange(256)]) + payload[2:]  # job
        if what == 1:
            slot = self.random.randrange(2) << 15 | self.random.choice((self.random.randrange(0x4000), self.random.randrange(2 * life.job.slots)))
            return worker, payload[:6] + slot.to_bytes(2, "big") + payload[8:]
        if what == 2:
            return worker, payload[:6] + bytes([payload[6] | 0x40]) + payload[7:]  # reserved bit
        if what == 3:
            return worker, payload + bytes(4)
        if what == 4:
            return worker, payload[:-1]
        return type(worker)(worker.ip, worker.port + 1000, worker.mac, worker.egress), payload

    def step(self):
        found = self.crowd.move()
        if self.random.random() < 0.001:
            self.again(self.random.randrange(len(self.people)))
        if found is None:
            return
        spoiled = self.spoil(*found) if self.random.random() < self.spoiled else None
        self.pass_on(*(spoiled or found))

    def pass_on(self, worker, payload):
        reason, out = self.switch.send(worker, payload)
        core_reason, to, answer = self.core.send(worker, payload)
        members = next((x.job.workers for x in self.crowd.lives.values() if worker in x.job.workers), ())
        want = expected(to, worker, answer, members)
        self.sent += 1
        if (reason, core_reason) == ("send_one", "drop_stale") and self.is_late_answer(worker, payload, out):
            reason = "late_answer"
        elif reason != core_reason or len(out) != len(want) or dict(out) != want:
            raise Differs(f"packet {payload[:16].hex()}... of {worker}: the program {reason}, {len(out)} frames; "
                          f"the core {core_reason}, {len(want)} frames{'' if dict(out) == want else ', others'}")
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.hand_out(out)

    def is_late_answer(self, worker, payload, out):
        """Whether the packet is of the chunk before the one that its slot completed last, and its sum is all that goes out."""
        life, ranks = next((x, self.crowd.ranks[p]) for p, x in self.crowd.lives.items() if worker in x.job.workers)
        i = next((i for i in range(max(r.sent for r in ranks)) if life.where(i) == label_of(payload)), None)
        return i is not None and out == [(worker.egress, result(worker, life.sum(i)))] and all(
            i + life.job.slots < r.sent for r in ranks)

    def hand_out(self, out):
        for port, frame in out:
            if self.random.random() < 0.1:
                continue  # lost
            rank = next((r for ranks in self.crowd.ranks.values() for r in ranks if r.worker.egress == port), None)
            if not rank.receive(frame[42:]) and self.is_of(rank, frame):
                raise Differs(f"a wrong sum for {rank.worker}: {frame[42:58].hex()}...")
            self.results += 1

    @staticmethod
    def is_of(rank, frame):
        """Whether a result is of the life that the rank is in, and of a chunk that it may still look at."""
        return any(rank.life.packet(i, rank.rank)[:8] == frame[42:50] for i in range(max(0, rank.whole - 4), rank.sent))

    def stop(self):
        self.core.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("core")
    parser.add_argument("--packets", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--chip", choices=("tofino", "tofino2"), default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    sent = results = sequences = passes = 0
    reasons = {}
    while sent < options.packets:
        chip = options.chip or ("tofino", "tofino2")[sequences % 2]
        pair = Pair(options.core, chip, seed + sequences)
        try:
            while pair.sent < 1000 and sent + pair.sent < options.packets:
                pair.step()
        except Exception as problem:
            print(f"seed {seed + sequences} on {chip}, packet {pair.sent}: {problem}", file=sys.stderr)
            raise
        finally:
            pair.stop()
        sequences, sent, results, passes = sequences + 1, sent + pair.sent, results + pair.results, passes + pair.switch.chip.passes
        for reason, n in pair.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + n
    print(f"{sent} packets in {sequences} sequences from seed {seed}: {results} results, {passes} passes, 0 differences")
    print(", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items(), key=lambda x: -x[1])))


if __name__ == "__main__":
    main()
