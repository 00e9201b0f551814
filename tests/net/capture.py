#!/usr/bin/env python3
"""Run in a host: writes what passes its eth0, either way, to a capture, until it gets a SIGTERM: capture.py FILE. Says that it
listens. Frames are as the kernel has them: merged, uncut, without checksums that a device is to make."""
import struct
import sys
import time

import raw

wire = raw.Wire("eth0")
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
    for frame in wire.until_told():
        file.write(struct.pack("=IIII", int(time.time()), 0, len(frame), len(frame)) + frame)
