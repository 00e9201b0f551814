#!/usr/bin/env python3
"""Sends a gradient packet whose UDP checksum is wrong, and one whose IPv4 checksum is: damaged.py SWITCH'S_IP SWITCH'S_MAC OWN_IP."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "net"))
from raw import Wire, ipv4, mac, udp  # noqa: E402

switch, switch_mac, own = sys.argv[1:]
wire = Wire("eth0")
for offset in 14 + 20 + 6, 14 + 10:
    frame = bytearray(mac(switch_mac) + wire.mac + struct.pack("!H", 0x0800) + ipv4(own, switch, 17, udp(own, switch, 4000, 48864, bytes(64))))
    frame[offset] ^= 0x5A
    wire.send(bytes(frame))
