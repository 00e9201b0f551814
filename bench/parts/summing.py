#!/usr/bin/env python3
"""A rank that sums until rank 0 gets SIGTERM: summing.py SWITCH RANK RANKS. Prints {"call_s": [...], "wrong": N, "resumed": N}."""
import json
import os
import signal
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[0] = os.path.join(ROOT, "python")
sys.dont_write_bytecode = True
import numpy
import swagg

switch, rank, ranks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
told, took, wrong, ends = [], [], 0, False
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
with swagg.Job(switch_ip=switch, job="summing", rank=rank, size=ranks, call_timeout_ms=300000, join_timeout_ms=300000, answer_timeout_ms=300000) as job:
    while not ends:
        mine = numpy.arange(1 << 18, dtype=numpy.int32) + len(took)
        mine[0] = len(told)
        began = time.monotonic()
        total = swagg.allreduce(job, mine)
        took.append(time.monotonic() - began)
        wrong += int((total[1:] != ranks * mine[1:]).any())
        ends = total[0] > 0
        if len(took) == 1:
            print("first", file=sys.stderr, flush=True)
    print(json.dumps({"call_s": took, "wrong": wrong, "resumed": job.stats()["resumed"]}))
