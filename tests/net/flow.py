#!/usr/bin/env python3
"""Run in a host: watches the TCP frames to a port, whichever way they go, until it gets a SIGTERM: flow.py PORT FILE. Says
that it listens. At the end the file has a line for each: a digest, the length, whether its checksums are "right" or "wrong", and what tells
it from others: its IP identifier, sequence number, acknowledgement, flags and window."""
import hashlib
import socket
import struct
import sys

import raw

SOL_PACKET, PACKET_STATISTICS = 263, 6  # unknown to Python 3.11


def is_wanted(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_TCP and frame[36:38] == port


def is_sound(frame):
    pseudo = frame[26:34] + struct.pack("!BBH", 0, socket.IPPROTO_TCP, len(frame) - 34)
    return raw.checksum(frame[14:34]) == 0 and raw.checksum(pseudo + frame[34:]) == 0


port = struct.pack("!H", int(sys.argv[1]))
wire = raw.Wire("eth0")
frames = list(wire.until_told(is_wanted))
_, lost = struct.unpack("II", wire.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
if lost:
    sys.exit(f"flow: {lost} frames were not seen")
with open(sys.argv[2], "w", encoding="ascii") as file:
    for frame in frames:
        print(hashlib.sha256(frame).hexdigest(), len(frame), "right" if is_sound(frame) else "wrong",
              frame[18:20].hex(), frame[38:42].hex(), frame[42:46].hex(), frame[46:48].hex(), frame[48:50].hex(), file=file)
