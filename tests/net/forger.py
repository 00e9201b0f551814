#!/usr/bin/env python3
"""Run beside a rank of a keyed job, or beside a switch that sends a sum up: knows everything but the key, and sends packets in
its name, of the chunk that is due and of those that come next, each with another sum:
forger.py DEVICE SWITCH_IP OWN_IP SLOTS PACKETS"""
import socket
import struct
import sys

import raw

DEVICE, SWITCH_IP, OWN_IP = sys.argv[1:4]
SLOTS, PACKETS = int(sys.argv[4]), int(sys.argv[5])
DATA_PORTS = range(0xBEE0, 0xBEF0)
OPEN, SIZE_AGREED, KEYED, AUTH_BYTES = 2, 4, 5, 8
AHEAD = 4  # chunks

wire = raw.Wire(DEVICE)


def is_contribution(frame):
    return frame[26:34] == socket.inet_aton(OWN_IP) + socket.inet_aton(SWITCH_IP) and frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[42] >> 4 == OPEN and \
        int.from_bytes(frame[36:38], "big") in DATA_PORTS


def forged(payload, ahead):
    """What the rank will send so many calls later, a call being one chunk; but the elements are others."""
    tag = (struct.unpack_from("<I", payload, 2)[0] + ahead) % 2**32
    index = tag % SLOTS | (tag // SLOTS % 2) << 15
    call = (struct.unpack_from("!I", payload, 10)[0] + ahead) % 2**32
    packet = bytearray(payload)
    struct.pack_into("<IH", packet, 2, tag, 0)
    struct.pack_into("!H", packet, 6, index)
    struct.pack_into("!I", packet, 10, call)
    for i in range(30, len(packet) - AUTH_BYTES):
        packet[i] ^= 0x5A
    return bytes(packet)


def variants(packet):
    yield packet  # with the authenticator of another
    yield bytes([OPEN << 4 | SIZE_AGREED]) + packet[1:-AUTH_BYTES]  # as in a job that is not keyed
    yield packet[:-AUTH_BYTES] + bytes(AUTH_BYTES)


sent = 0
while sent < PACKETS:
    frame = wire.receive(is_contribution, 300)
    if frame is None:
        sys.exit("forger: the rank sends nothing")
    source, destination = struct.unpack_from("!HH", frame, 34)
    payload = frame[42:14 + int.from_bytes(frame[16:18], "big")]
    if payload[0] & 7 != KEYED:
        sys.exit("forger: the rank's packets are not keyed")
    for ahead in range(AHEAD):
        for packet in variants(forged(payload, ahead)):
            wire.send(raw.ethernet(frame[:6], frame[6:12], 0x0800,
                                   raw.ipv4(OWN_IP, SWITCH_IP, 17, raw.udp(OWN_IP, SWITCH_IP, source, destination, packet))))
            sent += 1
