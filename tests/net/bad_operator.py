#!/usr/bin/env python3
"""Clients of swaggctl's socket that behave badly, until they are ended: bad_operator.py SOCKET."""
import signal
import socket
import sys


def connect(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(path)
    return s


silent = connect(sys.argv[1])
endless = connect(sys.argv[1])
endless.send(b"x" * 4000)
deaf = connect(sys.argv[1])
deaf.setblocking(False)
try:
    while True:  # until there is no room for more, since the answers are never read
        deaf.send(b'{"version": 1, "command": "drops"}\n' * 100)
except BlockingIOError:
    pass
strange = connect(sys.argv[1])
strange.send(b"\0\xff{}[]\n\n")
print("connected", strange.makefile().readline(), flush=True)
signal.pause()
