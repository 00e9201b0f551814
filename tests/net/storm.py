#!/usr/bin/env python3
"""Broadcasts as fast as it can: storm.py INTERFACE COUNT"""
import sys

from raw import Wire, ethernet

wire = Wire(sys.argv[1])
frame = ethernet(b"\xff" * 6, wire.mac, 0x88B6, b"storm".ljust(46, b"."))  # local experiments
for _ in range(int(sys.argv[2])):
    wire.send(frame)
