#!/usr/bin/env python3
"""Which frames between neighbours pass from one interface to another: link_local.py FROM TO prints the last digits of those of
01:80:c2:00:00:0X that arrive."""
import sys

from raw import Wire, ethernet, mac

out, into = Wire(sys.argv[1]), Wire(sys.argv[2])
SOURCE = mac("02:00:00:00:0a:0a")


def made(destination, payload):
    return ethernet(mac(destination), SOURCE, 0x88B6, payload.ljust(46, b"."))  # local experiments


def arrives(digit):
    """What is dropped never comes: a marker behind it tells that it would have come by now."""
    frame = made(f"01:80:c2:00:00:0{digit:x}", b"neighbours")
    for attempt in range(100):
        marker = made("ff:ff:ff:ff:ff:ff", b"marker %d %d" % (digit, attempt))
        out.send(frame)
        out.send(marker)
        seen = into.receive(lambda f: f in (frame, marker), 120)
        if seen is not None:
            return seen == frame
    sys.exit("link_local: not even a broadcast arrives")


print("".join(f"{digit:x}" for digit in range(16) if arrives(digit)))
