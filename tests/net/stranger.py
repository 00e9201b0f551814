#!/usr/bin/env python3
"""Run in a host: a process that merely shares a job's name joins it each 50 ms, as another each time, under the job's
terms and under others in turn, until it is killed: stranger.py SWITCH_IP NAME SIZE"""
import itertools
import os
import socket
import struct
import sys

JOIN = 1
name, size = sys.argv[2].encode(), int(sys.argv[3])


def join(boot_id, incarnation, serial, rank, size):
    head = struct.pack("!4sBB2xQQIHHI4x", b"SWAG", 2, JOIN, boot_id, incarnation, 0, rank, size, serial)
    terms = struct.pack("!BBBxBBBBHHIB51x", 1, 1, 16, 1, 1, 0, 0, 64, 1024, 0, 0)  # as in docs/protocol.md
    return head + struct.pack("!48sH14x", name, 40000 + rank) + terms


wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.connect((sys.argv[1], 0xBEDF))
wire.settimeout(0.05)
boot_id = 0
for i in itertools.count():
    incarnation = int.from_bytes(os.urandom(8), "big") | 1
    terms = (i // 2 % size, size if i % 2 else size + 1)
    for serial in 1, 2:
        wire.send(join(boot_id, incarnation, serial, *terms))
        try:
            heard = struct.unpack("!8xQ", wire.recv(512)[:16])[0]
        except OSError:  # the switch is away
            break
        if heard == boot_id:
            break
        boot_id = heard  # from now on the switch believes its JOINs: send again at once
    try:
        wire.recv(512)  # the time that is left
    except OSError:
        pass
