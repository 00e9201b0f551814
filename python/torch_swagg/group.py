"""A process group of torch.distributed.

Summed by the switch are allreduce, reduce and reduce_scatter. Broadcast, allgather, gather, scatter and barrier go through it, too, where the
job has exchanges (swagg_has_exchanges); what it does not have goes to gloo, which meets through the same store. Calls of the job are made in the
order in which they were begun, and travel together, but for gathers and scatters."""
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
from .tensors import Buffer, Elements, await_ready, op_of, post_allreduce_many, put, ready, torch_future

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


def _check_parts(one: torch.Tensor, parts: list[torch.Tensor], size: int) -> None:
    if len(parts) != size or any(p.dtype != one.dtype or p.numel() != one.numel() for p in parts):
        raise ValueError(f"the ranks' parts are {size} tensors of {one.numel()} elements of {one.dtype}")


def _put_rows(parts: list[torch.Tensor], whole) -> None:
    for part, row in zip(parts, whole if parts else ()):
        put(part, row.view(part.shape))


class ProcessGroupSwagg(dist.ProcessGroup):
    def __init__(self, store, rank: int, size: int, timeout: timedelta = timedelta(minutes=30)):
        super().__init__(rank, size)
        self._rank, self._size = rank, size
        self._gloo = c10d.ProcessGroupGloo(dist.PrefixStore("gloo", store), rank, size, timeout=timeout)
        # Of a Python object that only C++ holds torch forgets what Python had added: those are kept that have not ended, and the latest.
        self._works: collections.deque = collections.deque()
        self._job = None
        if size > 1:
            ms = milliseconds(timeout)

            def told(said):
                store.set(f"swagg/{rank}", said)
                return (store.get(f"swagg/{r}").decode() for r in range(size))

            self._job = open_job(told, rank, size, join_timeout_ms=ms, call_timeout_ms=ms)
            weakref.finalize(self, self._job.close).atexit = False  # swagg's own, then
        self._exchanges = self._job is not None and self._job.has_exchanges()
        if not self._exchanges:
            # Its barriers are begun by the job's thread, so they have a group of their own: gloo's calls have one order.
            self._barriers = c10d.ProcessGroupGloo(dist.PrefixStore("barriers", store), rank, size, timeout=timeout)

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
        buffers = [Buffer(t, op, self._job) for t in tensors]
        if len({b.type for b in buffers}) > 1:
            raise TypeError(f"tensors of one call have one type; these have {', '.join(sorted({str(t.dtype) for t in tensors}))}")
        return self._begin(tensors, lambda: post_allreduce_many(self._job, buffers))

    allreduce_coalesced = allreduce

    def reduce(self, tensors, opts=c10d.ReduceOptions()):
        if len(tensors) != 1:
            raise ValueError("reduce takes one tensor of a rank")
        buffer = Buffer(tensors[0], op_of(opts.reduceOp), self._job)
        return self._begin(tensors, lambda: buffer.post_reduce(self._job, opts.rootRank))

    def _reduce_scatter_one(self, output, whole, op):
        """whole: the ranks' parts, one behind the other."""
        if output.dtype != whole.dtype or output.numel() * self._size != whole.numel():
            raise ValueError(f"of {whole.numel()} elements of {whole.dtype} a rank gets {whole.numel() // self._size}, not {output.numel()} of {output.dtype}")
        if self._exchanges:
            send, part = Buffer(whole, op, self._job), Elements(output, self._job)
            if send.address < part.address + part.bytes and part.address < send.address + send.bytes:
                send = Buffer(whole.clone(), op, self._job)

            def put_back():
                part.put_back()
                return send  # which has lived as long as the call

            return self._begin([output], lambda: self._job.post_reduce_scatter(send.address, part.address, part.memory.numel(), send.type, send.op, put_back, ready(send, part)))
        whole = whole.clone()
        buffer = Buffer(whole, op, self._job)

        def part():  # of an allreduce
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
        return self._reduce_scatter_one(output, input.reshape(-1), op_of(opts.reduceOp))

    # --- copied by the switch, or by gloo

    def _exchange(self, value, make: Callable[[], None], used: list[Elements], received: list[Elements]) -> SwaggWork:
        """make() calls the job, in its thread, behind what was begun before, and with what is used."""

        def whole():
            await_ready(*used)
            make()
            for elements in received:
                elements.put_back()

        return self._begin(value, lambda: self._job.post(whole))

    def broadcast(self, tensors, opts=c10d.BroadcastOptions()):
        if not self._exchanges or any(t.is_sparse for t in tensors):
            return self._gloo.broadcast(tensors, opts)
        if len(tensors) != 1:
            raise ValueError("broadcast takes one tensor of a rank")
        whole = Elements(tensors[0], self._job)
        return self._begin(tensors, lambda: self._job.post_broadcast(whole.address, whole.bytes, opts.rootRank, whole.put_back, ready(whole)))

    def _parts_of(self, one, parts):
        """What a rank brings to an allgather or a gather, and the room for what all ranks bring; parts: where that goes in the end."""
        _check_parts(one, parts, self._size)
        own = Elements(one, self._job)
        return own, torch.empty((self._size, own.memory.numel()), dtype=own.memory.dtype)

    def allgather(self, outputs, inputs, opts=c10d.AllgatherOptions()):
        if not self._exchanges or any(t.is_sparse for t in inputs):
            return self._gloo.allgather(outputs, inputs, opts)
        if len(inputs) != 1:
            raise ValueError("all_gather takes one tensor of a rank")
        own, whole = self._parts_of(inputs[0], outputs[0])

        def put_back():
            _put_rows(outputs[0], whole)
            return own  # which has lived as long as the call

        return self._begin(outputs[0], lambda: self._job.post_allgather(own.address, whole.data_ptr(), own.bytes, put_back, ready(own)))

    def _allgather_base(self, output, input, opts=c10d.AllgatherOptions()):
        if not self._exchanges:
            parts = list(output.view(self._size, -1).unbind(0))
            return self._gloo.allgather([parts], [input.reshape(-1)], opts)
        if output.dtype != input.dtype or output.numel() != input.numel() * self._size:
            raise ValueError(f"{self._size} ranks' inputs are {input.numel() * self._size} elements of {input.dtype}, not {output.numel()} of {output.dtype}")
        own, whole = Elements(input, self._job), Elements(output, self._job)

        def put_back():
            whole.put_back()
            return own  # which has lived as long as the call

        return self._begin([output], lambda: self._job.post_allgather(own.address, whole.address, own.bytes, put_back, ready(own, whole)))

    def allgather_coalesced(self, outputs, inputs, opts=c10d.AllgatherOptions()):
        if not self._exchanges:
            return self._gloo.allgather_coalesced(outputs, inputs, opts)
        lists = [[parts[i] for parts in outputs] for i in range(len(inputs))]
        pairs = [self._parts_of(one, parts) for one, parts in zip(inputs, lists)]

        def make():
            for parts, (own, whole) in zip(lists, pairs):
                self._job.allgather(own.address, whole.data_ptr(), own.bytes)
                _put_rows(parts, whole)

        return self._exchange([part for parts in outputs for part in parts], make, [own for own, _ in pairs], [])

    def gather(self, outputs, inputs, opts=c10d.GatherOptions()):
        if not self._exchanges:
            return self._gloo.gather(outputs, inputs, opts)
        is_root = self._rank == opts.rootRank
        parts = outputs[0] if is_root else []
        own, whole = self._parts_of(inputs[0], parts) if is_root else (Elements(inputs[0], self._job), None)

        def make():
            self._job.gather(own.address, whole.data_ptr() if is_root else None, own.bytes, opts.rootRank)
            _put_rows(parts, whole)

        return self._exchange(parts, make, [own], [])

    def scatter(self, outputs, inputs, opts=c10d.ScatterOptions()):
        if not self._exchanges:
            return self._gloo.scatter(outputs, inputs, opts)
        own, whole = Elements(outputs[0], self._job), None
        if self._rank == opts.rootRank:
            _check_parts(outputs[0], inputs[0], self._size)
            whole = Elements(torch.cat([t.detach().reshape(-1) for t in inputs[0]]), self._job)
        return self._exchange(outputs, lambda: self._job.scatter(whole and whole.address, own.address, own.bytes, opts.rootRank),
                              [own] if whole is None else [own, whole], [own])

    def barrier(self, opts=c10d.BarrierOptions()):
        """Behind the calls that have begun, as with other backends."""
        if self._job is None:
            return self._barriers.barrier(opts)
        return self._begin([], lambda: self._job.post_barrier() if self._exchanges else self._job.post(lambda: self._barriers.barrier(opts).wait()))

    # --- by gloo

    def alltoall_base(self, output, input, output_splits, input_splits, opts=c10d.AllToAllOptions()):
        return self._gloo.alltoall_base(output, input, output_splits, input_splits, opts)

    def send(self, tensors, to: int, tag: int = 0):
        return self._gloo.send(tensors, to, tag)

    def recv(self, tensors, source: int, tag: int = 0):
        return self._gloo.recv(tensors, source, tag)

    def recv_anysource(self, tensors, tag: int = 0):
        return self._gloo.recv_anysource(tensors, tag)
