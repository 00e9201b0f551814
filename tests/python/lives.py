"""A script whose ranks have a fate, for torchrun: lives.py FATE SCRIPT ARGUMENT...

FATE: "killed": in its first life rank 1 is, by SIGKILL, in the midst of an epoch; "grows": as long as there are 2 ranks they stand still
there; "lives": nothing of that."""
import os
import runpy
import signal
import sys
import time

import torch

STEP = 50  # of several epochs
life, rank, size = (int(os.environ[name]) for name in ("TORCHELASTIC_RESTART_COUNT", "RANK", "WORLD_SIZE"))
fate = sys.argv[1]
steps = 0


class Doomed(torch.optim.SGD):
    def step(self, *arguments):
        global steps
        steps += 1
        if steps == STEP and fate == "killed" and life == 0 and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if steps == STEP and fate == "grows" and size == 2:
            print(f"rank {rank} waits for others", flush=True)
            while True:
                time.sleep(60)
        return super().step(*arguments)


if rank == 0:
    print(f"life {life} of {size} ranks", flush=True)
torch.optim.SGD = Doomed
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
