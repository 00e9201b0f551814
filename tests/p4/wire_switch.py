#!/usr/bin/python3
"""The interpreted program as a chip between real interfaces, to which other processes write by BF Runtime: wire_switch.py --listen PATH
--interfaces A,B,... --cpu-interface C [--chip KIND] [--loss SHARE --seed SEED]. Port i is the i-th interface; it runs until it is killed."""
import argparse
import random
import selectors
import socket

from bfrt_server import Server
from fake_bfrt import is_enabled
from rig import LOOP, ROOT

from interpreter.chip import Chip

CPU, ETH_P_ALL, OUTGOING, AT_ONCE = 64, 3, 4, 32


class Wires:
    """Interfaces of the kernel, by the chip's ports."""

    def __init__(self, chip, interfaces, loss, seed, waiting):
        self.chip, self.loss, self.random = chip, loss, random.Random(seed)
        self.sockets = {}
        for port, name in interfaces.items():
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            s.bind((name, 0))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            s.setblocking(False)
            self.sockets[port] = s
            waiting.register(s, selectors.EVENT_READ, lambda port=port: self.receive(port))

    def lost(self, frame):
        """Of what goes to and comes from the data ports."""
        ports = frame[34:36], frame[36:38]
        return self.random.random() < self.loss and any(b"\xbe\xe0" <= p <= b"\xbe\xef" for p in ports)

    def receive(self, port):
        for _ in range(AT_ONCE):
            try:
                frame, (_, _, kind, _, _) = self.sockets[port].recvfrom(65536)
            except BlockingIOError:
                break
            if kind != OUTGOING and is_enabled(self.chip, port) and not self.lost(frame):
                self.hand_out(self.chip.send(port, frame))

    def hand_out(self, out):
        for port, frame in out:
            if is_enabled(self.chip, port) and not self.lost(frame):
                try:
                    self.sockets[port].send(frame)
                except OSError:  # the interface is full, or down: as if it had been lost
                    pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", required=True)
    parser.add_argument("--interfaces", required=True)
    parser.add_argument("--cpu-interface", required=True)
    parser.add_argument("--chip", default="tofino")
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chip = Chip(ROOT / "p4/swagg.p4", options.chip)
    chip.loops.add(LOOP)
    waiting = selectors.DefaultSelector()
    Wires(chip, {**dict(enumerate(options.interfaces.split(","))), CPU: options.cpu_interface}, options.loss, options.seed, waiting)
    Server(options.listen, chip, waiting)
    while True:
        for key, _ in waiting.select():
            key.data()


if __name__ == "__main__":
    main()
