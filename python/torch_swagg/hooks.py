"""Communication hooks for DistributedDataParallel over any backend: buckets of gradients are averaged in the switch.

    model.register_comm_hook(SwaggState(), thc_hook)

A state has a job for each hook that is used with it; it is opened by the first bucket."""
from typing import Any, Optional

import torch
import torch.distributed as dist
from swagg import Job, Op

from .jobs import milliseconds, open_job
from .tensors import Buffer, torch_future


class Feedback:
    """What thc_hook has left out of the gradients of each parameter so far, to be added to them the next time. A parameter has a number: its place
    in the buckets of the first step, which are the same whenever a program runs. Buckets are made anew after that step; what was left out moves with
    the parameters."""

    def __init__(self):
        self.rank: Optional[int] = None  # whose it is
        self.round = 0  # calls so far, of all ranks alike
        self.parts: dict[int, torch.Tensor] = {}  # by number: of a bucket's memory, or of a checkpoint
        self.numbers: dict[torch.Tensor, int] = {}
        self.buckets: dict[tuple[int, ...], torch.Tensor] = {}  # by the numbers of what is in them

    def of(self, bucket: dist.GradBucket) -> torch.Tensor:
        parameters = bucket.parameters()
        numbers = tuple([self.numbers.setdefault(p, len(self.numbers)) for p in parameters])
        if numbers not in self.buckets:
            whole = torch.zeros(bucket.buffer().numel(), dtype=torch.float32, device="cpu")  # the library's, whatever the defaults are
            for number, part in zip(numbers, whole.split([p.numel() for p in parameters])):
                before = self.parts.get(number, part)
                if before.shape != part.shape:
                    raise ValueError(f"parameter {number} has {part.numel()} elements, and {before.numel()} in the checkpoint: it is of another model")
                self.parts[number] = part.copy_(before)
            self.buckets = {others: memory for others, memory in self.buckets.items() if not set(others) & set(numbers)}
            self.buckets[numbers] = whole
        return self.buckets[numbers]


class SwaggState:
    """options: of the jobs, as docs/libswagg.md has them; else the environment's. What a hook is about it says itself. close() leaves the
    jobs, on all ranks alike; else they are left at the program's end."""

    def __init__(self, process_group: Optional[dist.ProcessGroup] = None, **options: Any):
        self.group, self.options, self.jobs, self.feedback = process_group, options, {}, Feedback()

    def job(self, **more: Any) -> Job:
        key, ms = tuple(sorted(more.items())), milliseconds(dist.distributed_c10d.default_pg_timeout)
        if key not in self.jobs:
            options = {"join_timeout_ms": ms, "call_timeout_ms": ms, **self.options, **more}
            self.jobs[key] = open_job(self._told, dist.get_rank(self.group), dist.get_world_size(self.group), **options)
            self._agree()
        return self.jobs[key]

    def _told(self, said):
        texts = [None] * dist.get_world_size(self.group)
        dist.all_gather_object(texts, said, group=self.group)
        return texts

    def _agree(self) -> None:
        """A rank whose checkpoint was lost, or which has another's, begins at zero; but all go on with one round."""
        rank, kept = dist.get_rank(self.group), self.feedback
        if kept.rank != rank:
            kept.rank, kept.parts, kept.buckets = rank, {}, {}
        kept.round = max(self._told(kept.round))

    def close(self) -> None:
        for job in self.jobs.values():
            job.close()
        self.jobs = {}

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint, of each rank its own: what thc_hook has left out so far. Not while a backward runs."""
        kept = self.feedback
        return {"rank": kept.rank, "round": kept.round, "left_out": [kept.parts[number].clone() for number in sorted(kept.parts)]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """On all ranks alike, between two steps or before the first. What is left out goes on from there; another rank's is not taken."""
        self.close()
        kept = self.feedback
        kept.rank, kept.round, kept.parts, kept.buckets = state["rank"], state["round"], dict(enumerate(state["left_out"])), {}

    def __getstate__(self):
        """Options and feedback; jobs are opened anew, in the default group: set another one behind it."""
        return {"options": self.options, "feedback": self.state_dict()}

    def __setstate__(self, state):
        self.__init__(**state["options"])
        self.load_state_dict(state["feedback"])


def _average(state: SwaggState, bucket: dist.GradBucket, feedback: Optional[Feedback] = None, **more: Any) -> torch.futures.Future[torch.Tensor]:
    tensor = bucket.buffer()
    if dist.get_world_size(state.group) == 1:
        future: torch.futures.Future = torch.futures.Future()
        future.set_result(tensor)
        return future
    job = state.job(**{"numbers": "native", "compression": "none", **more})
    buffer = Buffer(tensor, Op.AVG, job)
    if feedback is None or tensor.dtype != torch.float32:
        return torch_future(buffer.post_allreduce(job), tensor, [tensor])
    left_out = feedback.of(bucket)
    feedback.round += 1

    def put_back():
        buffer.put_back()
        return left_out  # which has lived as long as the call

    return torch_future(buffer.post_allreduce(job, put_back, left_out=left_out.data_ptr(), round=feedback.round), tensor, [tensor])


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
    """Compressed to a few bits a number; what is left out of a gradient is added to it the next time, and is in checkpoints (state_dict)."""
    return _average(state, bucket, state.feedback, compression="thc")
