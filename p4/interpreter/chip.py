"""The chip around a program: ports, replication, ports that lead back to the parser, and the registers' pipe."""
from collections import deque

from interpreter.parsers import ParserError
from interpreter.program import Program
from interpreter.types import NO_PORT, PORT_METADATA_BITS

INGRESS = "ingress_intrinsic_metadata"
EGRESS = "egress_intrinsic_metadata"


class State:
    """A packet in one pass: an attribute for each field."""


class Chip:
    """One pipe. loops: ports whose packets come back. groups: id -> [(replication id, port)]. excluded: group -> {replication
    id: exclusion id}; a packet of that exclusion id makes no such copy. passes: how many packets have been through the pipeline.
    traffic: by port and direction, "rx" or "tx", frames and bytes; with the four of the frame's checksum, as MACs count."""

    def __init__(self, path, chip="tofino"):
        self.program = Program(path, chip)
        self.port_metadata = PORT_METADATA_BITS[chip] // 8
        self.loops, self.groups, self.excluded = set(), {}, {}
        self.waiting = deque()  # (port, bytes) on their way back
        self.digests = []
        self.passes = self.parser_drops = 0
        self.traffic = {}

    def send(self, port, frame):
        """One packet, with all its passes. Returns [(port, bytes)] of what leaves, in order."""
        self._count(port, "rx", frame)
        out = self.step(port, frame) + self.drain()
        for to, data in out:
            self._count(to, "tx", data)
        return out

    def _count(self, port, direction, frame):
        frames, size = self.traffic.setdefault(port, {}).get(direction, (0, 0))
        self.traffic[port][direction] = frames + 1, size + len(frame) + 4

    def drain(self):
        """All passes of packets that are on their way back."""
        out = []
        while self.waiting:
            out += self.step(*self.waiting.popleft())
        return out

    def step(self, port, frame):
        """One pass of one packet; what comes back waits."""
        out = []
        for to, data in self._pass(port, frame):
            if to in self.loops:
                self.waiting.append((to, data))
            else:
                out.append((to, data))
        return out

    def _state(self, frame):
        s = State()
        s.__dict__ = self.program.template.copy()
        s.digests = []
        return s

    def _pass(self, port, frame):
        p, s = self.program, self._state(frame)
        self.passes += 1
        data = port.to_bytes(2, "big") + bytes(6 + self.port_metadata) + frame
        try:
            payload = p.parse(s, data)
        except ParserError:
            self.parser_drops += 1
            return
        p.process(s)
        out = p.deparse(s) + payload
        self.digests += s.digests
        if getattr(s, f"{INGRESS}_for_deparser_t__drop_ctl") & 1:
            return
        tm = f"{INGRESS}_for_tm_t__"
        bypass = getattr(s, tm + "bypass_egress")
        for rid, to in self._replicate(s, tm):
            if bypass:
                yield to, out
            else:
                yield from self._egress(to, rid, out)

    def _replicate(self, s, tm):
        group, to = getattr(s, tm + "mcast_grp_a"), getattr(s, tm + "ucast_egress_port")
        copies = [(0, to)] if to != NO_PORT else []
        excluded, own = self.excluded.get(group, {}), getattr(s, tm + "level1_exclusion_id")
        return copies + [(rid, port) for rid, port in self.groups.get(group, ()) if excluded.get(rid) != own]

    def _egress(self, port, rid, frame):
        p, s = self.program, self._state(frame)
        data = port.to_bytes(2, "big") + rid.to_bytes(2, "big") + frame
        try:
            payload = p.egress_parse(s, data)
        except ParserError:
            self.parser_drops += 1
            return
        p.egress_process(s)
        out = p.egress_deparse(s) + payload
        if not getattr(s, f"{EGRESS}_for_deparser_t__drop_ctl") & 1:
            yield port, out
