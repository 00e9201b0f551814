"""The core beside the program in a test of p4testgen: led to the state that the registers have."""
import struct
from dataclasses import replace

from rig import DATA_PORT, SWITCH_IP, checksum, data, expected
from testgen_text import jobs

from control import plan

NEWEST, SEEN, SUMS = "Ingress.newest.newest", "Ingress.seen.seen", "Ingress.values.value{}.sums"
QUARTER, LABELS = 1 << 30, 1 << 32


def payload_of(frame):
    """(IP address, UDP port, payload) of a data packet whose lengths and checksum are right, or None."""
    if len(frame) < 43 or frame[12:15] != b"\x08\x00\x45" or checksum(frame[14:34]) != 0xFFFF:
        return None
    total, _, fragment, _, protocol, _, source, to = struct.unpack(">HHHBBHII", frame[16:34])
    port, to_port, size, _ = struct.unpack(">HHHH", frame[34:42])
    ours = (fragment & 0xBFFF, protocol, to, to_port & 0xFFF0, frame[42] >> 4) == (0, 17, SWITCH_IP, DATA_PORT, 1)
    return (source, port, frame[42:34 + size]) if ours and total == size + 20 and len(frame) >= 34 + size else None


def sender(ip, port):
    """(worker, its job or None)"""
    for job in jobs():
        for worker in job.workers:
            if (worker.ip, worker.port) == (ip, port):
                return worker, job
    return plan.Worker(ip, port, 0x02AA, 0), None


class Chunk:
    """What a packet says of itself."""

    def __init__(self, job, payload):
        self.number, self.tag = payload[1], int.from_bytes(payload[2:6], "little")
        where = int.from_bytes(payload[6:8], "big")
        self.ver, self.slot, self.bare = where >> 15, where & 0x3FFF, len(payload) == 10
        self.exponents = payload[8] ^ 0x80, payload[9] ^ 0x80  # as the registers have them
        self.label = (self.number << 24 | self.tag << 1 if job.labelled else self.tag & ~1) | self.bare

    def newer(self, job, label):
        """(number, tag) of the chunk of this label, which is newer; or, of tags, of the nearest that this place can have."""
        if job.labelled:
            return label >> 24, label >> 1 & 0x7FFFFF
        lap = 2 * job.slots
        return job.number, (self.tag + lap * max(1, (label - self.label) % LABELS // lap)) % LABELS


def possible(test, job, rank, payload):
    """The test with registers as a job can have them: exponents of 8 bits, no ranks but its own; and the exponents of a rank's copy, which
    the program counts, and the core does not (docs/tofino.md)."""
    registers, copied = dict(test["registers"]), (0, 0)
    if SEEN in registers:
        row, (ranks, e1) = registers[SEEN]
        copied = Chunk(job, payload).exponents if ranks >> rank & 1 else copied
        registers[SEEN] = row, (ranks & (1 << len(job.workers)) - 1, max(e1 & 0xFF, copied[1]))
    if NEWEST in registers:
        row, (label, e0) = registers[NEWEST]
        registers[NEWEST] = row, (label, max(e0 & 0xFF, copied[0]))
    return {**test, "registers": registers}


def contributions(job, chunk, test):
    """The payloads, by rank, that lead the core to the registers, where the chunk is the newest; None: nothing can."""
    (row, (label, e0)), (_, (ranks, e1)) = test["registers"][NEWEST], test["registers"][SEEN]
    if ranks == 0:
        return None
    words = [test["registers"][SUMS.format(i)][1] for i in range(32)]
    sums = [] if chunk.bare else [b for _, b in words] if job.elements == 32 else [a for a, _ in words] + [b for _, b in words]
    found, most = [], (e0 - 128, e1 - 128)
    for other in (r for r in range(len(job.workers)) if ranks >> r & 1):
        found.append((other, data(job.elements, chunk.number, chunk.tag, chunk.ver, chunk.slot, *most, sums)))
        sums, most = [0] * len(sums), (-128, -128)
    return found


def way(job, payload, test):
    """(first tag of the job, [(rank, payload)]) that lead the core to the registers, or None. Where the packet is newer than these,
    the core's slot is empty; where it is older, one rank has sent a newer chunk."""
    if job is None or NEWEST not in test["registers"]:
        return 0, []
    chunk, label = Chunk(job, payload), test["registers"][NEWEST][1][0]
    if job.labelled and chunk.tag >> 23:
        return None
    late = (label - chunk.label) % LABELS
    if late == 0:
        found = contributions(job, chunk, test)
        return None if found is None else (chunk.tag, found)
    if late > LABELS - QUARTER:
        return chunk.tag, []
    if late >= QUARTER:
        return None
    number, tag = chunk.newer(job, label)
    return tag, [(0, data(job.elements, number, tag, chunk.ver, chunk.slot, 0, 0, () if label & 1 else [0] * job.elements))]


def same(program, core):
    """Whether reasons mean the same: of a packet of a wrong size, with something else wrong, each names another thing (docs/tofino.md)."""
    return program == core or program in ("drop_bad_length", "sml_bad_length")


def complaint(core, made, test, frame):
    """(whether the core could be led there, what it and the program do otherwise, or None); made: a testgen.OnePass."""
    found = payload_of(frame) if test["port"] >> plan.PIPE_BITS == 0 else None  # in other pipes there are no jobs
    worker, job = sender(*found[:2]) if found else (None, None)
    test = possible(test, job, job.workers.index(worker), found[2]) if job else test
    led = found and way(job, found[2], test)
    if not led:
        return False, None
    first_tag, before = led
    for each in jobs():
        core.open(each if each.labelled else replace(each, first_tag=first_tag))
    for rank, payload in before:
        core.send(job.workers[rank], payload)
    reason, to, answer = core.send(worker, found[2])
    for each in jobs():
        core.close(each.number)
    made.set_registers(test)
    got, out = made.switch.send(worker, found[2])
    if same(got, reason) and dict(out) == expected(to, worker, answer, job.workers if job else ()):
        return True, None
    return True, f"the program {got}, {len(out)} frames; the core {reason}, to {to}"
