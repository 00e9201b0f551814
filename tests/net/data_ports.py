#!/usr/bin/env python3
"""Run in a host: prints the switch's UDP ports that this host's next data packets go to: data_ports.py PACKETS"""
import struct
import sys

import raw

FIRST, LAST = 0xBEE0, 0xBEEF
IPV4_UDP = 14 + 20 + 8


def port_of(frame):
    """The UDP port that a frame without IPv4 options goes to, 0 if it is no UDP."""
    is_udp = len(frame) >= IPV4_UDP and frame[12:14] == b"\x08\x00" and frame[23] == 17
    return struct.unpack_from("!H", frame, 36)[0] if is_udp else 0


wire = raw.Wire("eth0")
print("listens", flush=True)
ports = set()
for _ in range(int(sys.argv[1])):
    frame = wire.receive(lambda frame: frame[6:12] == wire.mac and FIRST <= port_of(frame) <= LAST, 300)
    if frame is None:
        sys.exit("data_ports: no data packets for 300 s")
    ports.add(port_of(frame))
print(*sorted(ports))
