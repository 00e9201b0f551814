"""A process group of torch.distributed.

Summed by the switch are allreduce, reduce and reduce_scatter (an allreduce of which each rank keeps its part). What adds nothing goes to
gloo, which meets through the same store. Calls are posted in the order in which they were begun, and travel together."""
from __future__ import annotations

import collections
import weakref
from concurrent.futures import Future, TimeoutError
from datetime import timedelta
from typing import Callable

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as c10d

from .jobs import milliseconds, open_job
from .tensors import Buffer, op_of, post_allreduce_many, put, torch_future

WORKS_KEPT = 8


class SwaggWork(c10d.Work):
    """A call that has begun. done: concurrent.futures' Future of it, whose exceptions are as they were raised."""

    def __init__(self, done: Future, value, tensors):
        super().__init__()
        self._done, self._future = done, torch_future(done, value, tensors)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        seconds = timeout.total_seconds()
        try:
            self._done.result(seconds if seconds > 0 else None)
        except TimeoutError as error:
            raise RuntimeError(f"the call has not ended within {seconds} s") from error
        self._future.wait()
        return True

    def get_future(self) -> torch.futures.Future:
        return self._future

    def is_completed(self) -> bool:
        return self._future.done()

    def is_success(self) -> bool:
        return self._done.done() and self._done.exception() is None

    def exception(self):
        return self._done.exception() if self._done.done() else None

    def result(self) -> list[torch.Tensor]:
        return self._future.value()

    def synchronize(self) -> None:
        self.wait()


class ProcessGroupSwagg(dist.ProcessGroup):
    def __init__(self, store, rank: int, size: int, timeout: timedelta = timedelta(minutes=30)):
        super().__init__(rank, size)
        self._rank, self._size = rank, size
        self._gloo = c10d.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, size, timeout=timeout)
        # Its barriers are begun by the job's thread, so they have a group of their own: gloo's calls have one order.
        self._barriers = c10d.ProcessGroupGloo(dist.PrefixStore("barriers", store), rank, size, timeout=timeout)
        # Of a Python object that only C++ holds torch forgets what Python had added: those are kept that have not ended, and the latest.
        self._works: collections.deque = collections.deque()
        self._job = None
        if size > 1:
            ms = milliseconds(timeout)

            def exchange(said):
                if rank == 0:
                    store.set("swagg", said)
                return store.get("swagg").decode()

            self._job = open_job(exchange, rank, size, join_timeout_ms=ms, call_timeout_ms=ms)
            weakref.finalize(self, self._job.close).atexit = False  # swagg's own, then

    def _begin(self, value, post: Callable[[], Future]) -> SwaggWork:
        """post() has the job begin the call; alone there is nothing to add."""
        if self._job is not None and self._job.is_poster():
            raise RuntimeError("a call of this group, begun by what follows another one's end, would wait for itself: PowerSGD's hooks do that")
        if self._job is None:
            done: Future = Future()
            done.set_result(None)
        else:
            done = post()
        work = SwaggWork(done, value, value)
        self._works.append(work)
        while len(self._works) > WORKS_KEPT and self._works[0].is_completed():
            self._works.popleft()
        return work

    def getBackendName(self) -> str:
        return "swagg"

    def name(self) -> str:
        return "swagg"

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size

    # --- summed in the switch

    def allreduce(self, tensors, opts=c10d.AllreduceOptions()):
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors  # as groups in C++ do, too
        if any(t.is_sparse for t in tensors):
            return self._gloo.allreduce(tensors, opts)
        op = op_of(getattr(opts, "reduceOp", opts))
        buffers = [Buffer(t, op) for t in tensors]
        if len({b.type for b in buffers}) > 1:
            raise TypeError(f"tensors of one call have one type; these have {', '.join(sorted({str(t.dtype) for t in tensors}))}")
        return self._begin(tensors, lambda: post_allreduce_many(self._job, buffers))

    allreduce_coalesced = allreduce

    def reduce(self, tensors, opts=c10d.ReduceOptions()):
        if len(tensors) != 1:
            raise ValueError("reduce takes one tensor of a rank")
        buffer = Buffer(tensors[0], op_of(opts.reduceOp))
        return self._begin(tensors, lambda: buffer.post_reduce(self._job, opts.rootRank))

    def _reduce_scatter_one(self, output, whole, op):
        """whole: the ranks' parts, one behind the other, in a tensor of ours."""
        buffer = Buffer(whole, op)

        def part():
            buffer.put_back()
            put(output, whole.view(self._size, -1)[self._rank].view_as(output))

        if self._job is None:
            put(output, whole.view_as(output))
        return self._begin([output], lambda: buffer.post_allreduce(self._job, then=part))

    def reduce_scatter(self, outputs, inputs, opts=c10d.ReduceScatterOptions()):
        if len(outputs) != 1:
            raise ValueError("reduce_scatter takes one tensor of a rank")
        if len({t.numel() for t in inputs[0]}) > 1:
            raise ValueError("reduce_scatter takes parts of one size")
        return self._reduce_scatter_one(outputs[0], torch.cat([t.reshape(-1) for t in inputs[0]]), op_of(opts.reduceOp))

    def _reduce_scatter_base(self, output, input, opts=c10d.ReduceScatterOptions()):
        if input.numel() != output.numel() * self._size:
            raise ValueError(f"an input of {self._size} ranks' outputs has {output.numel() * self._size} elements, not {input.numel()}")
        return self._reduce_scatter_one(output, input.reshape(-1).clone(), op_of(opts.reduceOp))

    # --- by gloo

    def allgather(self, outputs, inputs, opts=c10d.AllgatherOptions()):
        return self._gloo.allgather(outputs, inputs, opts)

    def _allgather_base(self, output, input, opts=c10d.AllgatherOptions()):
        parts = list(output.view(self._size, -1).unbind(0))
        return self._gloo.allgather([parts], [input.reshape(-1)], opts)

    def allgather_coalesced(self, outputs, inputs, opts=c10d.AllgatherOptions()):
        return self._gloo.allgather_coalesced(outputs, inputs, opts)

    def broadcast(self, tensors, opts=c10d.BroadcastOptions()):
        return self._gloo.broadcast(tensors, opts)

    def gather(self, outputs, inputs, opts=c10d.GatherOptions()):
        return self._gloo.gather(outputs, inputs, opts)

    def scatter(self, outputs, inputs, opts=c10d.ScatterOptions()):
        return self._gloo.scatter(outputs, inputs, opts)

    def alltoall_base(self, output, input, output_splits, input_splits, opts=c10d.AllToAllOptions()):
        return self._gloo.alltoall_base(output, input, output_splits, input_splits, opts)

    def send(self, tensors, to: int, tag: int = 0):
        return self._gloo.send(tensors, to, tag)

    def recv(self, tensors, source: int, tag: int = 0):
        return self._gloo.recv(tensors, source, tag)

    def recv_anysource(self, tensors, tag: int = 0):
        return self._gloo.recv_anysource(tensors, tag)

    def barrier(self, opts=c10d.BarrierOptions()):
        """Behind the calls that have begun, as with other backends."""
        if self._job is None:
            return self._barriers.barrier(opts)
        return self._begin([], lambda: self._job.post(lambda: self._barriers.barrier(opts).wait()))
