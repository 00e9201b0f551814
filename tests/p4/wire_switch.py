#!/usr/bin/python3
"""The interpreted program as a switch between real interfaces, and the helper of swagg-tofino in the same process: wire_switch.py
[--loss SHARE --seed SEED] --interfaces A,B,... --cpu-interface C, and then p4/helper.py's options. Port i is the i-th interface."""
import argparse
import random
import socket
import sys

import fake_bfrt
from rig import LOOP, ROOT

import helper
from interpreter.chip import Chip

CPU, ETH_P_ALL, OUTGOING, AT_ONCE = 64, 3, 4, 32


class Wires:
    """Interfaces of the kernel, by the chip's ports."""

    def __init__(self, chip, interfaces, loss, seed):
        self.chip, self.loss, self.random = chip, loss, random.Random(seed)
        self.sockets = {}
        for port, name in interfaces.items():
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            s.bind((name, 0))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            s.setblocking(False)
            self.sockets[port] = s

    def lost(self, frame):
        """Of what goes to and comes from the data ports."""
        ports = frame[34:36], frame[36:38]
        return self.random.random() < self.loss and any(b"\xbe\xe0" <= p <= b"\xbe\xef" for p in ports)

    def move(self):
        """Whatever waits at the interfaces, once round."""
        for port, s in self.sockets.items():
            for _ in range(AT_ONCE):
                try:
                    frame, (_, _, kind, _, _) = s.recvfrom(65536)
                except BlockingIOError:
                    break
                if kind != OUTGOING and not self.lost(frame):
                    self.hand_out(self.chip.send(port, frame))

    def hand_out(self, out):
        for port, frame in out:
            if not self.lost(frame):
                try:
                    self.sockets[port].send(frame)
                except OSError:  # the interface is full, or down: as if it had been lost
                    pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--interfaces", required=True)
    parser.add_argument("--cpu-interface", required=True)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    mine, rest = parser.parse_known_args()
    names = mine.interfaces.split(",")
    ports = ",".join(str(i) for i in range(len(names)))
    options = helper.parse([*rest, "--ports", ports, "--loops", str(LOOP), "--cpu", str(CPU)])
    chip = Chip(ROOT / "p4/swagg.p4", options.chip)
    chip.loops.add(LOOP)
    fake_bfrt.connect(options.switch, chip)
    switch = helper.connect(fake_bfrt, options)
    wires = Wires(chip, {**dict(enumerate(names)), CPU: mine.cpu_interface}, mine.loss, mine.seed)

    def idle():
        wires.move()
        switch.learn(0)

    helper.serve(switch, sys.stdin.buffer, sys.stdout.buffer, idle)
    print(f"reasons: {switch.counters()}, {chip.passes} passes", file=sys.stderr)


if __name__ == "__main__":
    main()
