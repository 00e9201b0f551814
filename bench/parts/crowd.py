#!/usr/bin/env python3
"""Jobs of many ranks, all of them this process: crowd.py SWITCH_IP JOBS IP... An address is a rank of every job, for a switch takes so many words a second from
each. All join and contribute to a few chunks, in packets as docs/protocol.md has them; says "ready" when every sum has come, and stays until it is ended."""
import os
import signal
import socket
import struct
import sys

JOIN, HEARTBEAT, READY = 1, 2, 17
CONTROL_PORT, DATA_PORT = 0xBEDF, 20000
SLOTS, CHUNK, CHUNKS, TRIES = 2, 64, 4, 100
SUM_FLOAT32 = 0x13

switch, jobs, addresses = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def bound(address, port):
    wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wire.bind((address, port))
    wire.settimeout(0.2)
    return wire


class Rank:
    def __init__(self, number, address):
        self.number, self.control, self.data = number, bound(address, 0), bound(address, DATA_PORT)
        self.control.connect((switch, CONTROL_PORT))
        self.boot_id = self.incarnation = 0
        self.boot_id = struct.unpack_from("!Q", self.hear(lambda: self.join(0)), 8)[0]  # the answer to a JOIN that does not know it

    def say(self, kind, serial, epoch, body):
        self.control.send(struct.pack("!4sBB2xQQIHHI4x", b"SWAG", 2, kind, self.boot_id, self.incarnation, epoch, self.number, len(addresses), serial) + body)

    def join(self, job):
        terms = struct.pack("!BBBxBBBBHHIB51x", 1, 1, 16, 1, 0, 0, 0, SLOTS, CHUNK, 0, 0)
        self.incarnation = self.incarnation or 1
        self.say(JOIN, 1, 0, struct.pack("!48sH14x", b"crowd%d" % job, DATA_PORT) + terms)

    def begin(self, job):
        self.incarnation = int.from_bytes(os.urandom(8), "big") | 1
        self.join(job)

    def hear(self, again, is_it=lambda _: True):
        for _ in range(TRIES):
            try:
                while not is_it(answer := self.control.recv(1024)):
                    pass
                return answer
            except TimeoutError:
                again()
        sys.exit(f"crowd: rank {self.number} is not answered")

    def is_ready(self, answer):
        return struct.unpack_from("!5xB10xQ", answer) == (READY, self.incarnation)

    def wait(self, job):
        """(number on the wire, data port, first tag) of the job that it is in."""
        ready = self.hear(lambda: self.join(job), self.is_ready)
        self.say(HEARTBEAT, 2, struct.unpack_from("!I", ready, 24)[0], bytes(16))
        return struct.unpack_from("!BxH", ready, 40) + struct.unpack_from("!I", ready, 40 + 24 + 4 + 8)

    def has_sum(self, tag):
        try:
            while struct.unpack_from("<I", self.data.recv(512), 2)[0] != tag:
                pass
            return True
        except TimeoutError:
            return False


def contribute(number, port, first):
    for tag in range(first, first + CHUNKS):
        tag &= 0xFFFFFFFF
        packet = struct.pack("!BB", 0x14, number) + struct.pack("<I", tag) + struct.pack("!HBB", tag // SLOTS % 2 << 15 | tag % SLOTS, SUM_FLOAT32, 0) + bytes(CHUNK)
        for _ in range(TRIES):
            for rank in ranks:
                rank.data.sendto(packet, (switch, port))
            if all(rank.has_sum(tag) for rank in ranks):
                break
        else:
            sys.exit(f"crowd: no sum of chunk {tag}")


ranks = [Rank(number, address) for number, address in enumerate(addresses)]
for job in range(jobs):
    for rank in ranks:
        rank.begin(job)
    contribute(*[rank.wait(job) for rank in ranks][0])
print("ready", flush=True)
signal.pause()
