#!/usr/bin/env python3
"""Asks a running swagg: telemetry [--until N] FILE_PREFIX COMMAND [KEY...]. Prints the answer as JSON, or what lies under the keys. With
--until, asks 50 times a second until that is a number of at least N, for two minutes at most."""
import json
import socket
import sys
import time

PAUSE_S, PATIENCE_S = 0.02, 120


class Telemetry:
    def __init__(self, prefix):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(300)
        self.socket.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        self.longest = json.loads(self.socket.recv(1024))["max_output_len"]

    def ask(self, command, keys=()):
        self.socket.send(command.encode())
        answer = json.loads(self.socket.recv(self.longest))[command.split(",")[0]]
        for key in keys:
            answer = answer[int(key) if isinstance(answer, list) else key]
        return answer


def ask(prefix, command):
    return Telemetry(prefix).ask(command)


def wait(swagg, command, keys, least):
    end = time.monotonic() + PATIENCE_S
    while (answer := swagg.ask(command, keys)) < least and time.monotonic() < end:
        time.sleep(PAUSE_S)
    if answer < least:
        raise ValueError(f"is {answer} after {PATIENCE_S} s, not {least}")
    return answer


def main():
    arguments = sys.argv[1:]
    least = None
    if arguments[:1] == ["--until"]:
        least, arguments = int(arguments[1]), arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    prefix, command, *keys = arguments
    try:
        swagg = Telemetry(prefix)
        answer = swagg.ask(command, keys) if least is None else wait(swagg, command, keys, least)
    except (OSError, KeyError, IndexError, TypeError, ValueError) as e:
        sys.exit(f"telemetry: {prefix}: {command} {' '.join(keys)}: {e!r}")
    print(answer if isinstance(answer, (str, int)) else json.dumps(answer, indent=1))


if __name__ == "__main__":
    main()
