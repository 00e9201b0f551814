#!/usr/bin/env python3
"""Asks a running swagg: telemetry FILE_PREFIX COMMAND [KEY...]. Prints the answer as JSON, or what lies under the keys."""
import json
import socket
import sys


def ask(prefix, command):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(10)
        s.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        longest = json.loads(s.recv(1024))["max_output_len"]
        s.send(command.encode())
        return json.loads(s.recv(longest))[command.split(",")[0]]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    prefix, command, *keys = sys.argv[1:]
    try:
        answer = ask(prefix, command)
        for key in keys:
            answer = answer[int(key) if isinstance(answer, list) else key]
    except (OSError, KeyError, IndexError, TypeError, ValueError) as e:
        sys.exit(f"telemetry: {prefix}: {command} {' '.join(keys)}: {e!r}")
    print(answer if isinstance(answer, (str, int)) else json.dumps(answer, indent=1))


if __name__ == "__main__":
    main()
