"""Communication hooks for DistributedDataParallel over any backend: buckets of gradients are averaged in the switch.

    model.register_comm_hook(SwaggState(), thc_hook)

A state has a job for each hook that is used with it; it is opened by the first bucket."""
from typing import Any, Optional

import torch
import torch.distributed as dist
from swagg import Job, Op

from .jobs import milliseconds, open_job
from .tensors import Buffer, torch_future


MOST_NAME = 2**63 - 1


class SwaggState:
    """options: of the jobs, as docs/libswagg.md has them; else the environment's. What a hook is about it says itself. close() leaves the
    jobs, on all ranks alike; else they are left at the program's end."""

    def __init__(self, process_group: Optional[dist.ProcessGroup] = None, **options: Any):
        self.group, self.options, self.jobs = process_group, options, {}

    def job(self, **more: Any) -> Job:
        key, ms = tuple(sorted(more.items())), milliseconds(dist.distributed_c10d.default_pg_timeout)
        if key not in self.jobs:
            options = {"join_timeout_ms": ms, "call_timeout_ms": ms, **self.options, **more}
            self.jobs[key] = open_job(self._told, dist.get_rank(self.group), dist.get_world_size(self.group), **options)
        return self.jobs[key]

    def _told(self, said):
        texts = [None] * dist.get_world_size(self.group)
        dist.all_gather_object(texts, said, group=self.group)
        return texts

    def close(self) -> None:
        for job in self.jobs.values():
            job.close()
        self.jobs = {}

    def __getstate__(self):
        """Checkpoints have the options; jobs are opened anew, in the default group: set another one behind it."""
        return {**self.__dict__, "group": None, "jobs": {}}


def _average(state: SwaggState, bucket: dist.GradBucket, **more: Any) -> torch.futures.Future[torch.Tensor]:
    tensor = bucket.buffer()
    if dist.get_world_size(state.group) == 1:
        future: torch.futures.Future = torch.futures.Future()
        future.set_result(tensor)
        return future
    job, buffer = state.job(**{"numbers": "native", "compression": "none", **more}), Buffer(tensor, Op.AVG)
    name = hash(tuple(map(id, bucket.parameters()))) & MOST_NAME or 1  # of what is left out: buckets are made anew after the first step
    return torch_future(buffer.post_allreduce(job, name), tensor, [tensor])


def swagg_hook(state: SwaggState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Averages as they are."""
    return _average(state, bucket)


def fp16_hook(state: SwaggState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """On the wire 16 bits a number, with a scale for each packet."""
    return _average(state, bucket, numbers="fp16")


def int32_hook(state: SwaggState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """SwitchML's numbers: integers with a scale for each packet, for switches that add nothing else."""
    return _average(state, bucket, numbers="int32")


def thc_hook(state: SwaggState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Compressed to a few bits a number; what is left out of a bucket is added to it the next time."""
    return _average(state, bucket, compression="thc")
