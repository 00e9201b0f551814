"""Modules like ptf and bfrt_grpc over the interpreted program, so that p4/ptf runs where there is no SDE: install(chip, ports)."""
import sys
import types
import unittest
from collections import deque

import fake_bfrt


class Found:
    def __init__(self, packet):
        self.packet = packet


class Missed:
    """Nothing has come."""


class Dataplane:
    def __init__(self, chip, ports):
        self.chip, self.ports = chip, {(0, port): None for port in ports}
        self.queues = {port: deque() for port in ports}

    def flush(self):
        for queue in self.queues.values():
            queue.clear()

    def send(self, port, frame):
        for to, data in self.chip.send(port, frame):
            if to in self.queues:
                self.queues[to].append(data)


def modules(dataplane):
    def dp_poll(test, device_number, port_number, timeout):
        queue = dataplane.queues[port_number]
        return Found(queue.popleft()) if queue else Missed()

    def verify_no_other_packets(test):
        left = {port: len(q) for port, q in dataplane.queues.items() if q}
        test.assertEqual(left, {})

    ptf = types.ModuleType("ptf")
    ptf.dataplane_instance = dataplane
    ptf.testutils = types.ModuleType("ptf.testutils")
    ptf.testutils.dp_poll, ptf.testutils.verify_no_other_packets = dp_poll, verify_no_other_packets
    ptf.testutils.send_packet = lambda test, port, frame: dataplane.send(port, frame)
    ptf.base_tests = types.ModuleType("ptf.base_tests")
    ptf.base_tests.BaseTest = unittest.TestCase
    bfrt_grpc = types.ModuleType("bfrt_grpc")
    bfrt_grpc.client = fake_bfrt
    return {"ptf": ptf, "ptf.testutils": ptf.testutils, "ptf.base_tests": ptf.base_tests, "bfrt_grpc": bfrt_grpc,
            "bfrt_grpc.client": fake_bfrt}


def install(chip, ports):
    sys.modules.update(modules(Dataplane(chip, ports)))
