#!/usr/bin/python3
"""Speaks to a Tofino that runs p4/swagg.p4, for swagg-tofino: answers its requests, and tells the chip where stations are. Or, with
--show, prints what the chip has counted and holds, as JSON. Needs the Python client of the switch's software (bfrt_grpc)."""
import argparse
import fcntl
import json
import selectors
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from control import plan, requests  # noqa: E402
from control.bfrt import Bfrt, SwitchError  # noqa: E402
from control.switch import Tofino  # noqa: E402


def numbers(text):
    return tuple(int(n) for n in text.split(","))


def address(text):
    parts = [int(p) for p in text.split(".")]
    if len(parts) != 4 or not all(0 <= p <= 255 for p in parts):
        raise argparse.ArgumentTypeError(f"{text} is no IPv4 address")
    return int.from_bytes(bytes(parts), "big")


def mac(text):
    return int(text.replace(":", ""), 16)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--switch", default="localhost:50052", help="where BF Runtime listens")
    parser.add_argument("--chip", choices=tuple(plan.CHIPS), default="tofino")
    parser.add_argument("--mac", type=mac, required=True, help="of the interface that has the switch's address")
    parser.add_argument("--ip", type=address, required=True, help="the configuration's switch.ip")
    parser.add_argument("--ports", type=numbers, required=True, help="that hosts are at, as the chip numbers them: 128,136,...")
    parser.add_argument("--loops", type=numbers, required=True, help="by which packets go round, in the pipe that adds")
    parser.add_argument("--cpu", type=int, required=True, help="the port that leads to this CPU")
    parser.add_argument("--pipes", type=int, default=1)
    parser.add_argument("--state", required=True, help="file that keeps what is in the chip, until the chip is set up anew")
    parser.add_argument("--show", action="store_true", help="print counters, jobs, slots and stations, and end")
    return parser.parse_args(arguments)


def connect(client, options):
    """--show is another client of the switch's, beside the one that has it."""
    return Tofino(Bfrt(client, options.switch, "swagg", int(options.show)), options.chip, options.mac, options.ip, options.ports,
                  options.loops, options.cpu, options.pipes, options.state, options.show)


def alone(options):
    """Waits until no earlier life of this process has the state file any more; to be kept while this one has it."""
    lock = open(f"{options.state}.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def serve(switch, source, out, idle):
    """Answers lines until there are no more; idle() in between, which must not take long."""
    waiting = selectors.DefaultSelector()
    waiting.register(source, selectors.EVENT_READ)
    rest = b""
    while True:
        if not waiting.select(0):
            idle()
            continue
        data = source.read1(65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            out.write(requests.answer(switch, line).encode() + b"\n")
            out.flush()


def main():
    options = parse(sys.argv[1:])
    try:
        import bfrt_grpc.client as client  # comes with the switch's software
        if options.show:
            print(json.dumps(requests.shown(connect(client, options)), indent=1))
            return
        with alone(options):
            switch = connect(client, options)
            serve(switch, sys.stdin.buffer, sys.stdout.buffer, lambda: switch.learn(0.05))
    except ImportError:
        sys.exit("helper: there is no bfrt_grpc here: set PYTHONPATH to the Python packages of the switch's software")
    except SwitchError as problem:
        sys.exit(f"helper: {problem}")


if __name__ == "__main__":
    main()
