"""A rank of a job of two that sums until /root/enough is there: rank.py SWITCH RANK. Its last line says what it has seen."""
import os
import sys

import numpy
import swagg

calls = wrong = 0
with swagg.Job(switch_ip=sys.argv[1], job="upgraded", rank=int(sys.argv[2]), size=2, call_timeout_ms=600000, join_timeout_ms=600000,
               answer_timeout_ms=600000) as job:
    enough = False
    while not enough:
        mine = numpy.arange(4096, dtype=numpy.int32) + calls
        mine[0] = os.path.exists("/root/enough")
        total = swagg.allreduce(job, mine)
        enough = total[0] > 0
        calls += 1
        wrong += int((total[1:] != 2 * mine[1:]).sum())
        print(calls, flush=True)
    print(f"{calls} calls, {wrong} wrong, {job.stats()['resumed']} restarts")
