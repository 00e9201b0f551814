#!/usr/bin/env python3
"""What one lcore does a second of its own running time: rate.py TELEMETRY PREFIX MILLISECONDS FILE WHAT. Waits until the lcore has run that
long. WHAT: `sums` that it sends, and fails if not every frame has brought one; or `frames` that it receives."""
import json
import subprocess
import sys
import time

TOOL, PREFIX, RAN_MS, RECORD, WHAT = sys.argv[1:]
COUNTERS = {"sums": ("results", "gradients"), "frames": ("received", "received")}[WHAT]


def ask(command):
    return json.loads(subprocess.check_output([TOOL, PREFIX, command]))


def sample():
    """The counters halfway between before and after the lcore's time was read."""
    before, ran_ms, after = ask("/swagg/counters"), ask("/swagg/lcore,1")["ran_ms"], ask("/swagg/counters")
    return ran_ms, *((before[name] + after[name]) / 2 for name in COUNTERS)


def main():
    first = last = sample()
    give_up = time.monotonic() + 300
    while last[0] - first[0] < int(RAN_MS) and time.monotonic() < give_up:
        time.sleep(0.05)
        last = sample()
    ran_ms, done, came = (b - a for a, b in zip(first, last))
    if ran_ms < int(RAN_MS) or done < 0.99 * came or done == 0:
        sys.exit(f"the lcore ran for {ran_ms} ms; {done:.0f} {WHAT} for {came:.0f} frames")
    with open(RECORD, "w") as f:
        json.dump({{"sums": "answers_pps", "frames": "frames_pps"}[WHAT]: 1000 * done / ran_ms}, f)


main()
