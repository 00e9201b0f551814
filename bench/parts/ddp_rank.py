#!/usr/bin/python3
"""One rank of a training with DistributedDataParallel whose steps are timed: ddp_rank.py BACKEND[+HOOK] STEPS RANK RANKS MASTER SWITCH. Rank 0 prints
{"step_s": [...], "sums_s": [...], "gradient_bytes": N}, where sums are from a step's first bucket on; BACKEND "calls": how long single calls take on the ranks' average, {"call_us": {bytes: mean}}."""
import json
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[0] = os.path.join(ROOT, "python")
sys.dont_write_bytecode = True

WIDTH, DEPTH, BATCH = 1250, 4, 2  # 6.25 million floats, 25 MB of gradients, which take little to compute
SIZES, CALLS, WARM_UPS = (8, 1 << 20), 200, 10  # as pytorch.sh has swagg-perf make
PORT = 29500


def note_calls(group, began):
    """From now on a process group of this class notes when each allreduce of its begins."""
    allreduce = group.allreduce

    def noted(self, *arguments):
        began.append(time.monotonic())
        return allreduce(self, *arguments)
    group.allreduce = noted


def training(way, steps, rank, ranks):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    backend, _, hook = way.partition("+")
    import torch_swagg
    from torch_swagg import hooks
    buckets = []
    note_calls(torch_swagg.ProcessGroupSwagg, buckets)
    dist.init_process_group(backend, rank=rank, world_size=ranks)
    torch.manual_seed(0)
    network = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)))
    model, state = DistributedDataParallel(network), hooks.SwaggState()
    if hook:
        model.register_comm_hook(state, getattr(hooks, hook))
    x, took, sums = torch.randn(BATCH, WIDTH), [], []
    for step in range(-2, steps):  # in the second, buckets are made anew
        dist.barrier()
        buckets.clear()
        began = time.monotonic()
        model(x).square().mean().backward()
        ended = time.monotonic()
        if step >= 0:
            took.append(ended - began)
            sums.extend(ended - first for first in buckets[:1])
    state.close()
    dist.barrier()
    dist.destroy_process_group()
    return {"step_s": took, "sums_s": sums, "gradient_bytes": sum(p.numel() * 4 for p in network.parameters())}


def calls(rank, ranks, switch):
    import numpy
    import swagg
    mean = {}
    with swagg.Job(switch_ip=switch, job="calls", rank=rank, size=ranks) as job:
        for size in SIZES:
            array, out, took = numpy.ones(size // 4, "f4"), numpy.zeros(size // 4, "f4"), []
            for call in range(-WARM_UPS, CALLS):
                if call == 0:
                    job.barrier()
                began = time.monotonic()
                swagg.allreduce(job, array, "sum", out)
                if call >= 0:
                    took.append(time.monotonic() - began)
            mean[size] = float(swagg.allreduce(job, numpy.array([statistics.mean(took) * 1e6]), "avg")[0])
    return {"call_us": mean}


def main():
    way, steps, rank, ranks, master, switch = sys.argv[1:]
    os.environ.update(MASTER_ADDR=master, MASTER_PORT=str(PORT), SWAGG_SWITCH=switch, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="eth0",
                      SWAGG_LIBRARY=os.path.join(ROOT, "build/lib/client/libswagg.so.0"))
    result = calls(int(rank), int(ranks), switch) if way == "calls" else training(way, int(steps), int(rank), int(ranks))
    if rank == "0":
        print(json.dumps(result))


main()
