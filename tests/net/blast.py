#!/usr/bin/env python3
"""Sends datagrams as fast as it can, until it is ended: blast.py ADDRESS"""
import socket
import sys

sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((sys.argv[1], 9))
datagram = bytes(1400)
while True:
    try:
        sender.send(datagram)
    except ConnectionRefusedError:  # nobody listens; they travel all the same
        pass
