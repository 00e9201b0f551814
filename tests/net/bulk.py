#!/usr/bin/env python3
"""A bulk TCP transfer with a hash at both ends: bulk.py receive PORT | send IP PORT MEBIBYTES. Prints the SHA-256."""
import hashlib
import random
import socket
import sys
import time


def receive(port):
    digest = hashlib.sha256()
    with socket.create_server(("", port)) as server:
        server.settimeout(300)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(300)
            while data := connection.recv(1 << 16):
                digest.update(data)
    return digest


def connect(ip, port):
    for _ in range(1200):
        try:
            return socket.create_connection((ip, port), timeout=300)
        except OSError:  # the receiver is not up yet, or the switch was not quick enough for ARP
            time.sleep(0.1)
    raise SystemExit(f"bulk: nobody listens at {ip}:{port}")


def send(ip, port, mebibytes):
    digest = hashlib.sha256()
    numbers = random.Random(port)
    with connect(ip, port) as connection:
        for _ in range(mebibytes):
            data = numbers.randbytes(1 << 20)
            digest.update(data)
            connection.sendall(data)
    return digest


if sys.argv[1] == "receive":
    print(receive(int(sys.argv[2])).hexdigest())
else:
    print(send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])).hexdigest())
