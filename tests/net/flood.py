#!/usr/bin/env python3
"""Run in host 0: sends marked frames and sees, by the counters of the other hosts' interfaces, who got them: flood.py NET_ID"""
import json
import subprocess
import sys
import time

import raw

ETHERTYPE = 0x88B5  # local experiments
COUNT = 200
MARKERS = 100  # broadcast afterwards: where they have come, all that was sent before them has
HOSTS = 4
NET_ID = sys.argv[1]


def received():
    counts = []
    for host in range(HOSTS):
        words = subprocess.check_output(["ip", "-n", f"{NET_ID}-h{host}", "-s", "-j", "link", "show", "dev", "eth0"])
        counts.append(json.loads(words)[0]["stats64"]["rx"]["packets"])
    return counts


def who_gets(wire, destination, expected):
    """Sends COUNT frames; says for each host whether it got them all, none, or something else (its number). Waits for what is
    expected, and gives up after two minutes."""
    before = received()
    for i in range(COUNT):
        wire.send(raw.ethernet(destination, wire.mac, ETHERTYPE, b"swagg test".ljust(46 + i, b".")))
        time.sleep(0.0005)
    for _ in range(MARKERS):
        wire.send(raw.ethernet(b"\xff" * 6, wire.mac, ETHERTYPE, b"swagg marker".ljust(46, b".")))
        time.sleep(0.0005)
    for _ in range(1200):
        time.sleep(0.1)
        counts = [now - then for now, then in zip(received(), before)]
        counts[1:] = [n - MARKERS for n in counts[1:]]  # not to ourselves
        # A stray ARP or two may be among them.
        got = ["all" if COUNT <= n <= COUNT + 10 else "none" if 0 <= n <= 10 else n for n in counts]
        if got == expected:
            break
    return got


def expect(what, destination, expected):
    got = who_gets(wire, destination, expected)
    if got != expected:
        sys.exit(f"flood: {what}: hosts got {got}, expected {expected}")


wire = raw.Wire("eth0")
expect("broadcast", b"\xff" * 6, ["none", "all", "all", "all"])
expect("multicast", raw.mac("01:00:5e:00:00:fb"), ["none", "all", "all", "all"])
expect("unknown station", raw.mac("02:00:00:00:0f:0f"), ["none", "all", "all", "all"])
expect("known station", raw.mac("02:00:00:00:01:03"), ["none", "none", "all", "none"])
expect("the switch itself", raw.mac("02:00:00:00:01:fe"), ["none", "none", "none", "none"])
