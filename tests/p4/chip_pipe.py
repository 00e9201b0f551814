#!/usr/bin/python3
"""The interpreted program behind a pipe, for the simulator (sim/chip_protocol.h): chip_pipe.py [CHIP]. Reads lines

    open NUMBER SLOTS BYTES FIRST_TAG IP:PORT...   a job, its members by rank
    close NUMBER
    packet IP:PORT PAYLOAD                         in hexadecimal digits

and answers "ok", or why a packet counts and the payload that leaves, to one or to all, or nothing."""
import sys

from rig import Switch, result

from control import plan


class Pipe:
    def __init__(self, chip):
        self.switch, self.people, self.heard = Switch(chip), {}, 0  # people: by address

    def worker(self, address):
        """Each is at a port of its own, in the pipe that adds."""
        ip, port = address.split(":")
        self.heard += 1
        return plan.Worker(int(ip, 16), int(port), 0x020000000000 + self.heard, self.heard % 64)

    def on_open(self, number, slots, size, first_tag, *members):
        people = tuple(self.worker(m) for m in members)
        self.people.update(zip(members, people))
        self.switch.open(plan.Job(int(number), int(size) // 4, int(slots), people, int(first_tag)))
        return "ok"

    def on_close(self, number):
        self.switch.close(int(number))
        return "ok"

    def on_packet(self, address, payload):
        reason, out = self.switch.send(self.people[address], bytes.fromhex(payload))
        if not out:
            return reason
        answer = out[0][1][42:]
        by_port = {w.egress: w for w in self.people.values()}
        assert all(frame == result(by_port[port], answer) for port, frame in out), "copies differ"
        return f"{reason} {answer.hex()}"


def main():
    pipe = Pipe(sys.argv[1] if len(sys.argv) > 1 else "tofino")
    for line in sys.stdin:
        what, *arguments = line.split()
        print(getattr(pipe, f"on_{what}")(*arguments), flush=True)


if __name__ == "__main__":
    main()
