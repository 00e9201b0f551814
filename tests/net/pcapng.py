#!/usr/bin/env python3
"""A line for each frame of a pcapng file: pcapng.py FILE. The port's name, the direction (1: received, 2: sent), the length."""
import struct
import sys

INTERFACE, FRAME = 1, 6

with open(sys.argv[1], "rb") as f:
    data = f.read()
names = []
while data:
    kind, length = struct.unpack_from("<II", data)
    block, data = data[:length], data[length:]
    if struct.unpack_from("<I", block, length - 4)[0] != length:
        sys.exit("a block's two lengths differ")
    if kind == INTERFACE:
        size = struct.unpack_from("<H", block, 18)[0]
        names.append(block[20:20 + size].decode())
    if kind == FRAME:
        interface, _, _, kept, size = struct.unpack_from("<5I", block, 8)
        direction = struct.unpack_from("<I", block, 28 + (kept + 3) // 4 * 4 + 4)[0]
        print(names[interface], direction, size)
