#!/usr/bin/python3
"""Speaks to a Tofino that runs p4/swagg.p4, for swagg-tofino: answers its requests, and tells the chip where stations are. Or, with
--show, prints what the chip has counted and holds, as JSON. Needs the Python client of the switch's software (bfrt_grpc)."""
import argparse
import contextlib
import fcntl
import json
import os
import selectors
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from control import plan  # noqa: E402
from control.bfrt import Bfrt, SwitchError  # noqa: E402
from control.requests import Requests, shown  # noqa: E402
from control.say import say  # noqa: E402
from control.switch import Tofino  # noqa: E402


def numbers(text):
    return tuple(int(n) for n in text.split(","))


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--switch", default="localhost:50052", help="where BF Runtime listens")
    parser.add_argument("--chip", choices=tuple(plan.CHIPS), default="tofino")
    parser.add_argument("--loops", type=numbers, required=True, help="by which packets go round, in the pipe that adds")
    parser.add_argument("--cpu", type=int, required=True, help="the port that leads to this CPU")
    parser.add_argument("--pipes", type=int, default=1)
    parser.add_argument("--state", required=True, help="file that keeps what is in the chip, until the chip is set up anew")
    parser.add_argument("--show", action="store_true", help="print counters, jobs, slots and stations, and end")
    return parser.parse_args(arguments)


def connect(client, options):
    """--show is another client of the switch's, beside the one that has it."""
    return Tofino(Bfrt(client, options.switch, "swagg", int(options.show)), options.chip, options.loops, options.cpu, options.pipes,
                  options.state, options.show)


def alone(options):
    """Waits until no earlier life of this process has the state file any more; to be kept while this one has it."""
    lock = open(f"{options.state}.lock", "a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        say(f"waits for an earlier helper, process {lock.read() or '(unknown)'}, which has {options.state}")
        fcntl.flock(lock, fcntl.LOCK_EX)
    lock.truncate(0)
    with contextlib.suppress(OSError):  # a full disk: nobody can be told who it is
        os.write(lock.fileno(), b"%d" % os.getpid())
    return lock


def serve(asked, source, out):
    """Answers lines until there are no more."""
    waiting = selectors.DefaultSelector()
    waiting.register(source, selectors.EVENT_READ)
    rest = b""
    while True:
        if not waiting.select(0 if asked.statics is not None else None):
            asked.idle(0.05, time.monotonic())
            continue
        data = source.read1(65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            out.write(asked.answer(line).encode() + b"\n")
            out.flush()


def main():
    options = parse(sys.argv[1:])
    try:
        import bfrt_grpc.client as client  # comes with the switch's software
        if options.show:
            print(json.dumps(shown(connect(client, options)), indent=1))
            return
        with alone(options):
            serve(Requests(connect(client, options)), sys.stdin.buffer, sys.stdout.buffer)
    except ImportError:
        sys.exit("helper: there is no bfrt_grpc here: set PYTHONPATH to the Python packages of the switch's software")
    except SwitchError as problem:
        sys.exit(f"helper: {problem}")


if __name__ == "__main__":
    main()
