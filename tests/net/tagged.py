#!/usr/bin/env python3
"""Frames with VLAN tags: tagged.py send MAC TAG (as hexadecimal, type and all), or tagged.py receive SECONDS, which says
that it listens and then prints the tag of the first such frame that comes. But for their tags they are gradient packets."""
import struct
import sys

from raw import Wire, ipv4, mac, udp

ADDRESSES = "192.0.2.1", "192.0.2.2"  # for documentation: nobody's
PACKET = struct.pack("!H", 0x0800) + ipv4(*ADDRESSES, 17, udp(*ADDRESSES, 4000, 48864, bytes(64)))
SOL_PACKET, PACKET_AUXDATA = 263, 8
AUXDATA = struct.Struct("=IIIHHHH")  # of which the last two are tag and type, where the status says so
VLAN_VALID, VLAN_TPID_VALID = 1 << 4, 1 << 6


def send(destination, tag):
    wire = Wire("eth0")
    wire.send(mac(destination) + wire.mac + bytes.fromhex(tag) + PACKET)


def receive(seconds):
    wire = Wire("eth0")
    wire.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    wire.socket.settimeout(float(seconds))
    print("listens", flush=True)
    while True:
        frame, ancillary, *_ = wire.socket.recvmsg(2048, 256)
        if frame[12:] == PACKET:
            break
    status, *_, tag, kind = AUXDATA.unpack(ancillary[0][2])
    valid = status & VLAN_VALID and status & VLAN_TPID_VALID
    print(f"{kind:04x}{tag:04x}" if valid else "none")


{"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
