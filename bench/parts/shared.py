#!/usr/bin/env python3
"""shared.py RANKS: how much memory the ranks of a host share, as JSON. Of the processes whose ids are on standard input; exits with 1 unless so
many have mapped it."""
import json
import re
import sys

MAPPED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*/memfd:swagg", re.M)


def mapped(pid):
    try:
        with open(f"/proc/{pid}/maps") as f:
            return sum(int(end, 16) - int(start, 16) for start, end in MAPPED.findall(f.read()))
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return 0


shares = [size for size in map(mapped, sys.stdin.read().split()) if size]
json.dump({"ranks": len(shares), "bytes": max(shares, default=0)}, sys.stdout)
sys.exit(len(shares) != int(sys.argv[1]))
