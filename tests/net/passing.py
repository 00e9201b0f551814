#!/usr/bin/env python3
"""Frames of a protocol that permits no change: passing.py send DEVICE HOST_MAC WORKER FRAMES [WITHOUT], or passing.py receive DEVICE WORKERS
FRAMES. A worker sends each frame several times, for links lose some; WITHOUT is one that it does not send. The host ends when it has every
frame of every worker, each exactly as it was sent. Frames: 192 bytes, from byte 64 on 32 floats."""
import socket
import struct
import sys

import raw

TYPE, TIMES = 0x88B5, 6


def payload(worker, number):
    head = struct.pack(">BxI", 1, number) + bytes([worker]) * 44
    return head + struct.pack("<32f", *(worker * 1000 + number + i for i in range(32)))


def send(device, host, worker, frames, without=-1):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((device, 0))
        mac = s.getsockname()[4]
        for _ in range(TIMES):
            for number in (n for n in range(frames) if n != without):
                s.send(bytes.fromhex(host.replace(":", "")) + mac + struct.pack(">H", TYPE) + payload(worker, number))


def receive(device, workers, frames):
    missing = {(worker, number) for worker in range(workers) for number in range(frames)}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(TYPE)) as s:
        raw.hold_all(s)
        s.bind((device, TYPE))
        print("listens", flush=True)
        while missing:
            frame = s.recv(4000)
            worker, number = frame[20], struct.unpack(">I", frame[16:20])[0]
            if frame[14:] != payload(worker, number):
                sys.exit(f"frame {number} of worker {worker} was changed: {frame.hex()}")
            missing.discard((worker, number))


what, device, *rest = sys.argv[1:]
if what == "send":
    send(device, rest[0], *map(int, rest[1:]))
else:
    receive(device, *map(int, rest))
