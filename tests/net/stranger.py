#!/usr/bin/env python3
"""Run in a host: a process that merely shares a job's name joins it each 50 ms, as another each time, until it is killed:
stranger.py SWITCH_IP NAME SIZE. In turn it joins under the job's terms and under others; says that it waited since before
the switch restarted, and then aborts or leaves; and says that it resumes."""
import itertools
import os
import select
import socket
import struct
import sys
import time

JOIN, LEAVE, ABORT = 1, 3, 4
name, size = sys.argv[2].encode(), int(sys.argv[3])


def head(kind, boot_id, incarnation, serial, rank, size):
    return struct.pack("!4sBB2xQQIHHI4x", b"SWAG", 2, kind, boot_id, incarnation, 0, rank, size, serial)


def join_body(rank, resume, waited, roster):
    terms = struct.pack("!BBBxBBBBHHIB51x", 1, 1, 16, 1, 1, 0, resume, 64, 1024, 0, 0)  # as in docs/protocol.md
    return struct.pack("!48sHBB4xQ", name, 40000 + rank, resume, waited, roster) + terms


# Of the job or of another size; resume, waited; how it ends what it has begun.
ways = [(0, 0, 0, None), (1, 0, 0, None), (0, 0, 1, ABORT), (0, 1, 0, None), (0, 0, 1, LEAVE), (0, 1, 0, ABORT)]
bodies = {ABORT: struct.pack("!HH200s", 11, 65535, b"a stranger had enough"), LEAVE: bytes(16)}

wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.connect((sys.argv[1], 0xBEDF))
wire.settimeout(0.05)
boot_id = 0
for i in itertools.count():
    incarnation, roster = (int.from_bytes(os.urandom(8), "big") | 1 for _ in range(2))
    larger, resume, waited, end = ways[i % len(ways)]
    rank = i // 2 % size
    me = (incarnation, rank, size + larger)
    for serial in 1, 2:
        wire.send(head(JOIN, boot_id, me[0], serial, *me[1:]) + join_body(rank, resume, waited, roster))
        try:
            heard = struct.unpack("!8xQ", wire.recv(512)[:16])[0]
        except OSError:  # the switch is away
            break
        if heard == boot_id:
            break
        boot_id = heard  # from now on the switch believes its JOINs: send again at once
    if end is not None:
        try:
            wire.send(head(end, boot_id, me[0], 3, *me[1:]) + bodies[end])
        except OSError:
            pass
    time.sleep(0.05)
    while select.select([wire], [], [], 0)[0]:  # what else was answered
        try:
            wire.recv(512)
        except OSError:
            break
