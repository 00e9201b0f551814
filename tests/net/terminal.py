#!/usr/bin/env python3
"""Runs a command on a terminal: terminal.py [REGEX KEYS]... -- COMMAND...

Waits until what the command has printed since the last keys matches REGEX, types KEYS (\\n and such are as in Python), and so on.
Then waits for its end, prints all that it has printed, and exits with its status. Gives up after some minutes of silence."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios

SILENCE_S = 300
LINES, COLUMNS = 60, 160


def read(fd):
    if not select.select([fd], [], [], SILENCE_S)[0]:
        sys.exit("terminal.py: nothing comes any more")
    try:
        return os.read(fd, 65536)
    except OSError:  # the command has ended
        return b""


def main():
    end = sys.argv.index("--")
    steps = list(zip(sys.argv[1:end:2], sys.argv[2:end:2]))
    child, fd = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        os.execvp(sys.argv[end + 1], sys.argv[end + 1:])
    printed = since = b""
    for wanted, keys in steps:
        while not re.search(wanted.encode(), since, re.S):
            more = read(fd)
            if not more:
                sys.exit(f"terminal.py: it ended before it said {wanted}: {(printed + since).decode(errors='replace')}")
            since += more
        printed, since = printed + since, b""
        os.write(fd, keys.encode().decode("unicode_escape").encode())
    while more := read(fd):
        since += more
    sys.stdout.write((printed + since).decode(errors="replace"))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
