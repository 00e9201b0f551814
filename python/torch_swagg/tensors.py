"""Tensors in swagg's calls: which types and operations there are, and where their elements lie meanwhile."""
from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Callable, Optional

import torch
import torch.distributed as dist
from swagg import Job, Op, Type, element_size

TYPES = {torch.int8: Type.INT8, torch.int16: Type.INT16, torch.int32: Type.INT32, torch.int64: Type.INT64, torch.uint8: Type.UINT8,
         torch.float16: Type.FLOAT16, torch.bfloat16: Type.BFLOAT16, torch.float32: Type.FLOAT32, torch.float64: Type.FLOAT64,
         torch.bool: Type.BOOL, torch.complex64: Type.COMPLEX64, torch.complex128: Type.COMPLEX128}
OPS = {"SUM": Op.SUM, "AVG": Op.AVG, "PRODUCT": Op.PROD, "MIN": Op.MIN, "MAX": Op.MAX, "BAND": Op.BAND, "BOR": Op.BOR, "BXOR": Op.BXOR}
# What is the same of the values 0 and 1.
OPS_OF_BOOL = {Op.SUM: Op.LOR, Op.MAX: Op.LOR, Op.BOR: Op.LOR, Op.PROD: Op.LAND, Op.MIN: Op.LAND, Op.BAND: Op.LAND, Op.BXOR: Op.LXOR}


def op_of(op: dist.ReduceOp) -> Op:
    for name, ours in OPS.items():
        if op == getattr(dist.ReduceOp, name):
            return ours
    raise ValueError(f"{op} is no operation of swagg's: use one of {', '.join(OPS)}")


def put(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """In a thread that has none of the modes in which the caller made the tensor."""
    with torch.inference_mode(tensor.is_inference()), torch.no_grad():
        tensor.detach().copy_(value)


class Elements:
    """A tensor's, in one piece, where calls of the job take them: the tensor itself, or a copy; in the host's memory, or where the job reaches GPUs in
    theirs. What is to write a GPU's tensor has been begun in the current stream: a call reads it when the event behind
    that has happened (ready), and nobody waits for it here."""

    def __init__(self, tensor: torch.Tensor, job: Optional[Job]):
        self.tensor, self.event = tensor.detach(), None
        if tensor.is_cuda and job is not None and job.reaches_gpus():
            self.memory = self.tensor.contiguous()
            self.event = torch.cuda.current_stream(tensor.device).record_event()
        else:
            self.memory = self.tensor.cpu().contiguous()
        self.address, self.bytes = self.memory.data_ptr(), self.memory.numel() * self.memory.element_size()

    def put_back(self) -> None:
        """In the job's thread, and by a stream of its own: the default one may be backward's."""
        if self.address == self.tensor.data_ptr():
            return
        if self.event is None:
            put(self.tensor, self.memory)
            return
        stream = torch.cuda.Stream(self.tensor.device)
        with torch.cuda.stream(stream):
            put(self.tensor, self.memory)
        stream.synchronize()


def ready(*elements: Elements) -> Optional[int]:
    """The event that is behind what writes or reads them, in the number by which CUDA knows it; for calls that are posted."""
    last = {e.memory.device: e for e in elements if e.event is not None}  # of each device
    if not last:
        return None
    *others, one = last.values()
    if others:
        stream = torch.cuda.Stream(one.memory.device)
        for e in last.values():
            stream.wait_event(e.event)
        one.event = stream.record_event()
    return one.event.cuda_event


def await_ready(*elements: Elements) -> None:
    """The same in the job's thread, for calls that it makes there."""
    for e in elements:
        if e.event is not None:
            e.event.synchronize()


class Buffer(Elements):
    """Elements that are summed."""

    def __init__(self, tensor: torch.Tensor, op: Op, job: Optional[Job]):
        self.type, self.op = TYPES.get(tensor.dtype), op
        if self.type == Type.BOOL:
            self.op = OPS_OF_BOOL.get(op, op)
        if self.type is None or element_size(self.type, self.op) == 0:
            raise TypeError(f"swagg has no {op.name.lower()} of {tensor.dtype}")
        super().__init__(tensor, job)

    def post_allreduce(self, job: Job, then: Optional[Callable[[], Any]] = None, **how: Any) -> Future:
        """then: in the place of putting the sum back."""
        return job.post_allreduce(self.address, self.address, self.memory.numel(), self.type, self.op, then=then or self.put_back, ready=ready(self), **how)

    def post_reduce(self, job: Job, root: int) -> Future:
        is_root = job.rank == root
        return job.post_reduce(self.address, self.address if is_root else None, self.memory.numel(), self.type, self.op, root,
                               self.put_back if is_root else self.keep, ready(self))

    def keep(self) -> None:
        """It lives as long as the call."""


def post_allreduce_many(job: Job, buffers: list[Buffer]) -> Future:
    """Of one type, and at least one: in one stream, in place."""
    if len(buffers) == 1:
        return buffers[0].post_allreduce(job)

    def put_back():
        for buffer in buffers:
            buffer.put_back()

    segments = [(b.address, b.address, b.memory.numel()) for b in buffers]
    return job.post_allreduce_many(segments, buffers[0].type, buffers[0].op, put_back, ready(*buffers))


def torch_future(done: Future, value, tensors) -> torch.futures.Future:
    """torch's future of a call with tensors: value, or the call's error. torch's set_exception is Python's alone: who waits in C++, as DDP does, would
    take the exception for the value. What then() raises is an error there, too."""
    began: torch.futures.Future = torch.futures.Future(devices=sorted({t.device for t in tensors if t.is_cuda}, key=str))

    def end(_):
        done.result()
        return value

    future = began.then(end)
    done.add_done_callback(lambda _: began.set_result(None))
    return future
