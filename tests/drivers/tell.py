#!/usr/bin/env python3
"""Says a line to the guest, or to QEMU's monitor: tell.py PORT|SOCKET COMMAND. Prints what comes back; the guest's exit status is its."""

import socket
import sys


def to_guest(port, command):
    with socket.create_connection(("127.0.0.1", port), timeout=600) as s:
        s.sendall(command.encode() + b"\n")
        said = b"".join(iter(lambda: s.recv(65536), b"")).decode(errors="replace")
    words, mark, status = said.rstrip("\n").rpartition("status ")
    if not mark:
        sys.exit(f"the guest said nothing to the end: {said}")
    sys.stdout.write(words)
    return int(status)


def to_monitor(path, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(600)
        s.connect(path)
        prompt(s)
        s.sendall(command.encode() + b"\n")
        print(prompt(s))
    return 0


def prompt(s):
    said = b""
    while not said.endswith(b"(qemu) "):
        more = s.recv(65536)
        if not more:
            break
        said += more
    return said.decode(errors="replace")


where, what = sys.argv[1:]
sys.exit(to_guest(int(where), what) if where.isdigit() else to_monitor(where, what))
