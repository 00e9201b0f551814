#!/usr/bin/env python3
"""Run in a host: processes that nobody knows join jobs of their own and leave them, as fast as they can:
join_flood.py SWITCH_IP COUNT"""
import os
import socket
import struct
import sys

JOIN, LEAVE = 1, 3
switch, count = (sys.argv[1], 0xBEDF), int(sys.argv[2])


def head(kind, boot_id, incarnation, serial):
    return struct.pack("!4sBB2xQQIHHI4x", b"SWAG", 2, kind, boot_id, incarnation, 0, 0, 1, serial)


def join(name):
    terms = struct.pack("!BBBxBBBBHHIB51x", 1, 1, 16, 1, 0, 0, 0, 64, 1024, 0, 0)  # as in docs/protocol.md
    return struct.pack("!48sH14x", name, 40000) + terms


def learn_boot_id():
    """Of the answer to a JOIN that does not know it."""
    for _ in range(100):
        wire.send(head(JOIN, 0, 1, 1) + join(b"flood"))
        try:
            return struct.unpack("!8xQ", wire.recv(512)[:16])[0]
        except TimeoutError:
            pass
    sys.exit("join_flood: the switch does not answer")


wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.connect(switch)
wire.settimeout(0.5)
boot_id = learn_boot_id()
try:
    for i in range(count):
        incarnation = int.from_bytes(os.urandom(8), "big") | 1
        wire.send(head(JOIN, boot_id, incarnation, 1) + join(b"flood-%d" % i))
        wire.send(head(LEAVE, boot_id, incarnation, 2) + bytes(16))
except OSError as e:
    print(f"join_flood: the switch is gone: {e}")
