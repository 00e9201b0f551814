#!/usr/bin/python3
"""Tests that p4testgen has made from the program's text alone (docs/results/tofino.md, "A test generator"): testgen.py CORE_SWITCH [FILE]
sends each packet through the program, whose tables and registers are as the test says, and compares what leaves after one pass. Where
the core can be in the same state, it must answer as the program does after all of its passes."""
import json
import sys
from pathlib import Path

import testgen_core
from rig import LOOP, Core, Switch, checksum
from testgen_text import FLOOD_PORT, RIGHT, jobs

FILE = Path(__file__).resolve().parent / "testgen.txt"
ETHERNET, FLOOD_GROUP, NO_PORT = 14, 0xFFFF, 0x1FF


class Copies(dict):
    """Multicast groups as the generator's text has them: one copy, by the port of the group's number."""

    def get(self, group, default=()):
        port = FLOOD_PORT if group == FLOOD_GROUP else group & NO_PORT
        return default if group == 0 or port == NO_PORT else [(0, port)]


def with_checksum(test):
    """Packet and wanted frame with an IPv4 checksum that is right if the test says so, or wrong."""
    packet, wanted = bytes.fromhex(test["packet"]), test["expect"] and bytes.fromhex(test["expect"][1])
    header = packet[ETHERNET:ETHERNET + 20]
    if test["port"] == LOOP or packet[12:14] != b"\x08\x00" or len(header) < 20:
        return packet, wanted
    marked = int.from_bytes(header[10:12], "big") == RIGHT
    right = checksum(header[:10] + header[12:])
    made = header[:10] + (right if marked else right ^ 1).to_bytes(2, "big") + header[12:]
    return packet.replace(header, made, 1), wanted and wanted.replace(header, made, 1)


def same(got, wanted, free):
    """Whether a frame is the wanted one but for some bits."""
    care = (1 << 8 * len(wanted)) - 1
    for first, bits in free:
        care &= ~(((1 << bits) - 1) << 8 * len(wanted) - first - bits)
    return len(got) == len(wanted) and (int.from_bytes(got, "big") ^ int.from_bytes(wanted, "big")) & care == 0


class OnePass:
    """The program with our jobs, one pass at a time, with what a test has put into it."""

    def __init__(self):
        self.switch = Switch()
        self.program = self.switch.chip.program
        for job in jobs():
            self.switch.open(job)

    def set_registers(self, test):
        for name, (row, words) in test["registers"].items():
            self.program.registers[name].write(row, *words)

    def write(self, test):
        """Puts the test's entries into the tables; returns [(table, keys)]."""
        done = []
        for name, keys, action, arguments in test["tables"]:
            table, by_name = self.program.tables[name], {k: rest for k, *rest in keys}
            keys = tuple(tuple(by_name[k]) if len(by_name[k]) == 2 else by_name[k][0] for k, _, _ in table.keys)
            table.add(keys, action.rsplit(".", 1)[1], [value for _, value in arguments])
            done.append((table, keys))
        return done

    def run(self, test):
        """Runs one pass: ([(port, frame)], reasons that were counted, whether an address is learnt)."""
        chip, counts = self.switch.chip, self.switch.counts
        loops, groups, chip.loops, chip.groups = chip.loops, chip.groups, set(), Copies()
        self.set_registers(test)
        written, before = self.write(test), list(counts)
        chip.digests.clear()
        out = chip.step(test["port"], with_checksum(test)[0])
        for table, keys in written:
            table.remove(keys)
        chip.loops, chip.groups = loops, groups
        return out, [i for i, (old, new) in enumerate(zip(before, counts)) if old != new], chip.digests != []

    def complaint(self, test):
        """Why the test fails, or None."""
        (out, reasons, learns), wanted = self.run(test), with_checksum(test)[1]
        if (reasons, learns) != ([] if test["reason"] is None else [test["reason"]], test["learns"]):
            return f"reason {test['reason']} is wanted, {reasons} counted; learns: {learns}"
        if wanted is None:
            return None if not out else f"nothing is wanted, {len(out)} frames leave"
        port, _, free = test["expect"]
        if len(out) != 1 or out[0][0] != port:
            return f"a frame at port {port} is wanted, {[p for p, _ in out]} have one"
        return None if same(out[0][1], wanted, free) else f"wanted {wanted.hex()} but for {free}, {out[0][1].hex()} leaves"


def main():
    core, made, led, number = Core(sys.argv[1]), OnePass(), 0, 0
    file = Path(sys.argv[2]) if len(sys.argv) > 2 else FILE
    for number, line in enumerate(file.read_text().splitlines(), 1):
        test = json.loads(line)
        wrong = made.complaint(test)
        if wrong is None:
            was_led, wrong = testgen_core.complaint(core, made, test, with_checksum(test)[0])
            led += was_led
        if wrong is not None:
            raise SystemExit(f"{file.name}:{number}: {wrong}")
    core.stop()
    print(f"{number} tests: the program does what each wants; so does the core in the {led} whose state it can be in")


if __name__ == "__main__":
    main()
