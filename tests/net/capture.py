#!/usr/bin/env python3
"""Run in a host: writes what passes its eth0, either way, to a capture, until it gets a SIGTERM: capture.py FILE. Says that it
listens. Frames are as the kernel has them: merged, uncut, without checksums that a device is to make."""
import signal
import struct
import sys
import time

import raw

told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
wire = raw.Wire("eth0")
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
    print("listens", flush=True)
    last_round = False
    while not last_round:
        last_round = bool(told)  # what came before that is in the socket by now
        while frame := wire.receive(lambda _: True, 0.2):
            file.write(struct.pack("=IIII", int(time.time()), 0, len(frame), len(frame)) + frame)
