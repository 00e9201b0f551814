#!/usr/bin/env python3
"""A datagram that is nobody's protocol: letter.py write FROM_PORT HEX IP PORT sends one, letter.py read PORT HEX waits for it. HEX: its first
bytes."""
import socket
import sys

what, port, first, *to = sys.argv[1:]
letter = bytes.fromhex(first) + b"a letter to the host"
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.bind(("", int(port)))
    if what == "write":
        s.sendto(letter, (to[0], int(to[1])))
    else:
        while s.recv(2000) != letter:
            pass
