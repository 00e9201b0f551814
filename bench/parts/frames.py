#!/usr/bin/env python3
"""Frames that may not be touched, and their sums: frames.py send WORKER FRAMES START HOST_MAC begins at START; frames.py host WORKERS FRAMES ENDED adds what comes
to this host; frames.py switch WORKERS FRAMES ENDED waits for the sums that the switch sends. ENDED gets the
time; START and that are monotonic, in s.
Frames have 64 bytes of headers and 32 floats, as in the paper's case 2."""
import array
import socket
import struct
import sys
import time

TYPE, PORT, FLOATS, AT = 0x88B5, 6000, 32, 64
SO_RCVBUFFORCE = 33  # Python has no name for it


def value(worker, number, i):
    return float((worker * 7 + number + i) % 512)


def frames_of(worker, count, source, host):
    head = host + source + struct.pack(">H", TYPE)
    for number in range(count):
        yield (head + struct.pack(">BxI", 1, number) + bytes([worker]) * 44
               + array.array("f", (value(worker, number, i) for i in range(FLOATS))).tobytes())


def note(path):
    with open(path, "w") as f:
        f.write(repr(time.monotonic()))


def check(sums, workers):
    for number, got in sums.items():
        assert list(got) == [sum(value(w, number, i) for w in range(workers)) for i in range(FLOATS)], number


def send(worker, count, start, host):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind(("eth0", 0))
        frames = list(frames_of(int(worker), int(count), s.getsockname()[4], bytes.fromhex(host.replace(":", ""))))
        time.sleep(max(0, float(start) - time.monotonic()))
        for frame in frames:
            s.send(frame)


def add(workers, count):
    """Every frame that comes, to the sum of its number."""
    sums, seen = {}, 0
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(TYPE)) as s:
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        s.bind(("eth0", TYPE))
        print("listens", flush=True)
        while seen < workers * count:
            frame = s.recv(2048)
            number = struct.unpack_from(">I", frame, 16)[0]
            floats = array.array("f", frame[AT:])
            sums[number] = array.array("f", map(float.__add__, sums[number], floats)) if number in sums else floats
            seen += 1
    return sums


def collect(count):
    """The sums as the switch sends them: ten bytes of header, then floats."""
    sums = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        s.bind(("", PORT))
        print("listens", flush=True)
        while len(sums) < count:
            packet = s.recv(2048)
            if packet[0] == 3:
                sums[struct.unpack_from(">I", packet, 4)[0]] = array.array("f", packet[10:])
    return sums


what, *rest = sys.argv[1:]
if what == "send":
    send(*rest)
else:
    workers, count, ended = int(rest[0]), int(rest[1]), rest[2]
    found = add(workers, count) if what == "host" else collect(count)
    note(ended)
    check(found, workers)
