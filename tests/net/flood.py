#!/usr/bin/env python3
"""Run in host 0: sends marked frames and sees, by the counters of the other hosts' interfaces, who got them: flood.py NET_ID"""
import json
import subprocess
import sys
import time

import raw

ETHERTYPE = 0x88B5  # local experiments
COUNT = 200
HOSTS = 4
NET_ID = sys.argv[1]


def received():
    counts = []
    for host in range(HOSTS):
        words = subprocess.check_output(["ip", "-n", f"{NET_ID}-h{host}", "-s", "-j", "link", "show", "dev", "eth0"])
        counts.append(json.loads(words)[0]["stats64"]["rx"]["packets"])
    return counts


def who_gets(wire, destination):
    """Sends COUNT frames; says for each host whether it got them all, none, or something else (its number)."""
    before = received()
    for i in range(COUNT):
        wire.send(raw.ethernet(destination, wire.mac, ETHERTYPE, b"swagg test".ljust(46 + i, b".")))
        time.sleep(0.0005)
    for _ in range(50):
        time.sleep(0.1)
        got = [now - then for now, then in zip(received(), before)]
        if max(got) >= COUNT:
            break
    # A stray ARP or two may be among them.
    return ["all" if COUNT <= n <= COUNT + 10 else "none" if n <= 10 else n for n in got]


def expect(what, got, expected):
    if got != expected:
        sys.exit(f"flood: {what}: hosts got {got}, expected {expected}")


wire = raw.Wire("eth0")
expect("broadcast", who_gets(wire, b"\xff" * 6), ["none", "all", "all", "all"])
expect("multicast", who_gets(wire, raw.mac("01:00:5e:00:00:fb")), ["none", "all", "all", "all"])
expect("unknown station", who_gets(wire, raw.mac("02:00:00:00:0f:0f")), ["none", "all", "all", "all"])
expect("known station", who_gets(wire, raw.mac("02:00:00:00:01:03")), ["none", "none", "all", "none"])
expect("the switch itself", who_gets(wire, raw.mac("02:00:00:00:01:fe")), ["none", "none", "none", "none"])
