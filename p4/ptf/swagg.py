"""Tests of the program on the SDE's model, or on a switch (docs/tofino.md, "How it is checked"): what the core answers must come out,
and frames must be switched. Needs ptf and bfrt_grpc, which come with the SDE."""
import os
import sys
import tempfile
from pathlib import Path

import bfrt_grpc.client as client
import ptf
from ptf import testutils
from ptf.base_tests import BaseTest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "p4"), str(ROOT / "tests/p4")]

from control import plan  # noqa: E402
from control.bfrt import Bfrt  # noqa: E402
from control.switch import Place, Port, Tofino  # noqa: E402
from rig import LOOP, SWITCH_IP, SWITCH_MAC, frame, result, workers  # noqa: E402

ADDRESS, CHIP = os.environ.get("SWAGG_SWITCH", "localhost:50052"), os.environ.get("SWAGG_CHIP", "tofino")
LOOPS = tuple(int(p) for p in os.environ.get("SWAGG_LOOPS", str(LOOP)).split(","))
CPU, PATIENCE_S = int(os.environ.get("SWAGG_CPU", "64")), 5


class OnSwitch(BaseTest):
    """A switch that is set up for the test, and empty afterwards as far as jobs go."""

    state = Path(tempfile.gettempdir()) / "swagg-ptf-state"

    def setUp(self):
        BaseTest.setUp(self)
        self.dataplane = ptf.dataplane_instance
        self.dataplane.flush()
        self.ports = sorted(port for _, port in self.dataplane.ports if port != CPU)
        self.switch = Tofino(Bfrt(client, ADDRESS, "swagg"), CHIP, LOOPS, CPU, state=self.state)
        self.switch.set_up(Place(SWITCH_MAC, SWITCH_IP, tuple(Port(port) for port in self.ports)))

    def tearDown(self):
        for number in list(self.switch.jobs):
            self.switch.close(number)
        BaseTest.tearDown(self)

    def received(self, port):
        """The next packet at a port, or None."""
        found = testutils.dp_poll(self, device_number=0, port_number=port, timeout=PATIENCE_S)
        return getattr(found, "packet", None)

    def expect(self, wanted):
        """wanted: (port, frame), in any order; and nothing else."""
        for port, data in wanted:
            got = self.received(port)
            if got is None or bytes(got)[:len(data)] != data:  # short frames are padded
                self.fail(f"port {port}: {data.hex()} is wanted, {bytes(got).hex() if got else 'nothing'} came")
        testutils.verify_no_other_packets(self)


class Vectors(OnSwitch):
    """tests/p4/vectors.txt: packets, and what the core answers to them."""

    def runTest(self):
        people = {}
        for line in (ROOT / "tests/p4/vectors.txt").read_text().splitlines():
            asked, answer = line.split(" => ")
            kind, *words = asked.split()
            if kind == "open":
                self.open(words, people)
                continue
            worker, members = people[words[0]]
            _, to, payload = answer.split()
            testutils.send_packet(self, worker.egress, frame(worker, bytes.fromhex(words[1])))
            receivers = {"all": members, "sender": [worker], "none": []}[to]
            self.expect([(w.egress, result(w, bytes.fromhex(payload))) for w in receivers])

    def open(self, words, people):
        """A job whose workers are dealt to the ports that there are."""
        number, slots, chunk_bytes, first_tag, labelled = map(int, words[:5])
        first = int(words[5].split(":")[1])
        members = tuple(plan.Worker(w.ip, w.port, w.mac, self.ports[i % len(self.ports)])
                        for i, w in enumerate(workers(len(words) - 5, first - workers(1)[0].port)))
        self.switch.open(plan.Job(number, chunk_bytes // 4, slots, members, first_tag, bool(labelled)))
        for word, worker in zip(words[5:], members):
            people[word] = worker, members


class Frames(OnSwitch):
    """Addresses are learnt, known ones are sent to one port, others to all."""

    def runTest(self):
        a, b = 0x02000000AA00, 0x02000000BB00
        here, there = self.ports[:2]
        asking = b.to_bytes(6, "big") + a.to_bytes(6, "big") + b"\x08\x06" + bytes(46)
        testutils.send_packet(self, here, asking)
        self.expect([(port, asking) for port in (*self.ports, CPU) if port != here and (0, port) in self.dataplane.ports])
        while self.switch.port_of(a) is None:
            if not self.switch.learn(PATIENCE_S):
                self.fail("no digest has come")
        answering = a.to_bytes(6, "big") + b.to_bytes(6, "big") + b"\x08\x06" + bytes(46)
        testutils.send_packet(self, there, answering)
        self.expect([(here, answering)])
