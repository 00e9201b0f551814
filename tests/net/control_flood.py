#!/usr/bin/env python3
"""Run in a host: sends so many HEARTBEATs as fast as it can, and says how many a second: control_flood.py HOW SWITCH_IP COUNT

HOW: member    of a job of its own, which it has joined
     stranger  of no job
     forged    of no job, each from another address (on eth0)"""
import os
import random
import signal
import socket
import struct
import sys
import time

import raw

JOIN, HEARTBEAT, READY = 1, 2, 17
CONTROL = 0xBEDF
how, switch, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
incarnation = int.from_bytes(os.urandom(8), "big") | 1


def head(kind, boot_id, epoch, serial):
    return struct.pack("!4sBB2xQQIHHI4x", b"SWAG", 2, kind, boot_id, incarnation, epoch, 0, 1, serial)


def join():
    terms = struct.pack("!BBBxBBBBHHIB51x", 1, 1, 16, 1, 0, 0, 0, 64, 1024, 0, 0)  # as in docs/protocol.md
    return struct.pack("!48sH14x", b"flood-%d" % os.getpid(), 40000) + terms


def become_member():
    """Until it is READY; returns the boot id, its epoch, and how many messages that took."""
    boot_id = 0
    for serial in range(1, 1000):
        wire.send(head(JOIN, boot_id, 0, serial) + join())
        try:
            answer = wire.recv(512)
        except TimeoutError:
            continue
        kind, boot_id, epoch = answer[5], *struct.unpack_from("!Q8xI", answer, 8)
        if kind == READY:
            return boot_id, epoch, serial
    sys.exit("control_flood: the switch does not let it join")


def members():
    boot_id, epoch, serial = become_member()
    for i in range(count):
        yield head(HEARTBEAT, boot_id, epoch, serial + 1 + i) + bytes(16)


def strangers():
    for i in range(count):
        yield head(HEARTBEAT, 1, 1, 1 + i) + bytes(16)


def forged():
    """Frames, some hundred of each address."""
    eth, random_ = raw.Wire("eth0"), random.Random(1)
    payload = head(HEARTBEAT, 1, 1, 1) + bytes(16)
    frames = []
    for _ in range(4096):
        source = f"10.{random_.randrange(100, 250)}.{random_.randrange(256)}.{random_.randrange(1, 255)}"
        station = b"\x02" + random_.randbytes(5)
        packet = raw.udp(source, switch, random_.randrange(1024, 65536), CONTROL, payload)
        frames.append(raw.ethernet(raw.mac(sys.argv[4]), station, 0x0800, raw.ipv4(source, switch, 17, packet)))
    for i in range(count):
        eth.send(frames[i % len(frames)])


wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.connect((switch, CONTROL))
wire.settimeout(0.5)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
begun = time.monotonic()
print("floods", flush=True)
if how == "forged":
    forged()
else:
    for message in members() if how == "member" else strangers():
        try:
            wire.send(message)
        except ConnectionRefusedError:
            pass
print(f"{count / (time.monotonic() - begun):.0f} a second", flush=True)
