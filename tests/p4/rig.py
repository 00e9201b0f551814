"""What the tests of the P4 program share: a switch out of the interpreted program and what control would write; the
core as the same switch; packets for both."""
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "p4"))

from control import plan  # noqa: E402
from control.reasons import NAMES  # noqa: E402
from interpreter.chip import Chip  # noqa: E402

LOOP, SWITCH_MAC, SWITCH_IP, DATA_PORT, FIRST_PORT = 68, 0x02AA, 0x0A4D00FE, 0xBEE0, 40000


def checksum(data):
    return 0xFFFF - int.from_bytes(data, "big") % 0xFFFF & 0xFFFF


def frame(worker, payload, dst_port=DATA_PORT, ip_checksum=None, dst_ip=SWITCH_IP, fragment=0x4000):
    """An Ethernet frame from a worker to the switch."""
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(payload), 7, fragment, 64, 17, 0, worker.ip, dst_ip)
    right = checksum(head)
    head = head[:10] + struct.pack(">H", right if ip_checksum is None else ip_checksum) + head[12:]
    ethernet = SWITCH_MAC.to_bytes(6, "big") + worker.mac.to_bytes(6, "big") + b"\x08\x00"
    return ethernet + head + struct.pack(">HHHH", worker.port, dst_port, 8 + len(payload), 0x1234) + payload


def data(elements, number, tag, ver, slot, e0, e1, values):
    """A published packet; values: int32 numbers, none for exponents alone."""
    size = 0x10 | plan.ELEMENTS.index(elements)
    head = struct.pack(">BB", size, number) + struct.pack("<I", tag) + struct.pack(">HBB", ver << 15 | slot, e0 & 255, e1 & 255)
    return head + struct.pack(f">{len(values)}I", *(v & 0xFFFFFFFF for v in values))


class Switch:
    """The program with jobs in it. Each worker's port is its own."""

    def __init__(self, chip="tofino", program=ROOT / "p4/swagg.p4"):
        self.kind, self.chip = plan.CHIPS[chip], Chip(program, chip)
        p = self.chip.program
        p.value_sets["IngressParser.loops"].add(LOOP)
        p.value_sets["IngressParser.own_addresses"].add(SWITCH_IP)
        self.chip.loops.add(LOOP)
        self._write(plan.always())
        self.areas, self.homes = plan.Areas(self.kind.rows), {}
        self.counts = p.counters["Ingress.reasons"].counts
        self.newest = p.registers["Ingress.newest.newest"]
        self.seen = p.registers["Ingress.seen.seen"]

    def open(self, job, home=None):
        if home is None:
            base = self.areas.take(plan.rows(job))
            assert base is not None, "no rows left"
            home = plan.Home(base=base, group=1 + job.number, rid=1 + 64 * job.number, loop=LOOP)
        made = plan.plan(job, home, self.kind)
        self._write(made.tables)
        for row, words in made.newest.items():
            self.newest.write(row, *words)
        for row, words in made.seen.items():
            self.seen.write(row, *words)
        self.chip.groups[home.group] = made.copies
        self.homes[job.number] = (job, home, made)

    def _write(self, writes):
        for w in writes:
            self.chip.program.tables[w.table].add(w.keys, w.action, w.arguments, w.priority)

    def close(self, number):
        job, home, made = self.homes.pop(number)
        for w in made.tables:
            self.chip.program.tables[w.table].remove(w.keys)
        del self.chip.groups[home.group]
        self.areas.give(home.base, plan.rows(job))

    def send(self, worker, payload, **how):
        """(reason, [(port, frame)])"""
        before, cut = list(self.counts), self.chip.parser_drops
        out = self.chip.send(worker.egress, frame(worker, payload, **how))
        changed = [NAMES[i] for i, (a, b) in enumerate(zip(before, self.counts)) if a != b and i > 0]
        if self.chip.parser_drops > cut:  # of what this rig sends, only the last header can be cut short
            return "sml_too_short", out
        return (changed[0] if changed else "passed"), out


class Core:
    """The core, over a pipe."""

    def __init__(self, executable):
        self.process = subprocess.Popen([executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the core has ended, asked for: {line[:100]}")
        return answer.split()

    def open(self, job):
        members = " ".join(f"{w.ip:x}:{w.port}" for w in job.workers)
        self.ask(f"open {job.number} {job.slots} {4 * job.elements} {job.first_tag} {int(job.labelled)} {members}")

    def close(self, number):
        self.ask(f"close {number}")

    def send(self, worker, payload):
        """(reason, "all", "sender" or "none", payload)"""
        reason, to, answer = self.ask(f"packet {worker.ip:x}:{worker.port} {payload.hex()}")
        return reason, to, b"" if answer == "-" else bytes.fromhex(answer)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def workers(n, first=0):
    """Workers on ports of their own; two on each host."""
    return tuple(plan.Worker(ip=0x0A4D0001 + (first + i) // 2, port=FIRST_PORT + first + i, mac=0x020000000001 + (first + i) // 2,
                             egress=first + i) for i in range(n))


def expected(to, sender, payload, members):
    """{port: frame} that leave the switch for an answer of the core."""
    receivers = {"all": members, "sender": [sender], "none": []}[to]
    return {w.egress: result(w, payload) for w in receivers}


def result(worker, payload):
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(payload), 0, 0x4000, 64, 17, 0, SWITCH_IP, worker.ip)
    head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    ethernet = worker.mac.to_bytes(6, "big") + SWITCH_MAC.to_bytes(6, "big") + b"\x08\x00"
    return ethernet + head + struct.pack(">HHHH", DATA_PORT, worker.port, 8 + len(payload), 0) + payload
