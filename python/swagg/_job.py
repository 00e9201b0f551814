"""Jobs: the ranks that sum together, and their calls."""
from __future__ import annotations

import atexit
import collections
import concurrent.futures
import ctypes
import enum
import functools
import logging
import os
import sys
import threading
import warnings
import weakref
from concurrent.futures import Future
from typing import Any, Callable, Optional, Sequence

from . import _library

_swagg = _library.load()
_log = logging.getLogger("swagg")
_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


class Type(enum.IntEnum):
    """Of elements: enum swagg_type of swagg.h."""

    INT32, INT64, FLOAT32, FLOAT64, INT8, INT16, UINT8, UINT16, UINT32, UINT64, BOOL, FLOAT16, BFLOAT16, COMPLEX64, \
        COMPLEX128 = range(1, 16)


class Op(enum.IntEnum):
    """What is done to elements: enum swagg_op of swagg.h. Of logical ones the result is 1 or 0."""

    SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR, AVG = range(1, 12)


class Status(enum.IntEnum):
    """What a call failed with: enum swagg_status of swagg.h."""

    ARGUMENT = -1  # nothing was sent, and the job goes on
    NO_SWITCH = -2
    REFUSED = -3
    DEADLINE = -4
    MISMATCH = -5
    LOST = -6
    ABORTED = -7
    SYSTEM = -8
    FULL = -9  # as many calls are posted as may be: not here, where they wait for room


class Error(RuntimeError):
    """A call has failed. Its text has what happened, and which ranks are missing. After any status but ARGUMENT a
    job can only be closed."""

    def __init__(self, status: int, text: str):
        super().__init__(status, text)
        self.status, self.text = Status(status), text

    def __str__(self) -> str:
        return f"{_swagg.swagg_strerror(self.status).decode()}: {self.text}"


# By thread: what was raised while the library wrote its log, most likely by the handler of a signal, such as KeyboardInterrupt.
_kept: "dict[int, BaseException]" = {}


def _raise_kept() -> None:
    if _kept:
        error = _kept.pop(threading.get_ident(), None)
        if error is not None:
            raise error


def _check(status: int) -> int:
    _raise_kept()
    if status < 0:
        raise Error(status, _swagg.swagg_last_error().decode())
    return status


def version() -> str:
    """Of libswagg, as in "0.1.0+6b38cdc4f1aa"."""
    return _swagg.swagg_version().decode()


def option_of_variable(variable: str) -> Optional[str]:
    """The option for which a variable of the environment stands: "SWAGG_SWITCH" is "switch_ip". None: for none."""
    option = _swagg.swagg_option_of_variable(variable.encode())
    return option and option.decode()


@functools.lru_cache(maxsize=None)
def element_size(type: Type, op: Op = Op.SUM) -> int:
    """Bytes of an element; 0: the type does not have this operation."""
    return _swagg.swagg_element_size(type, op)


def _tell(_ctx, level, line):
    _log.log(_LEVELS[level], "%s", line.decode("utf-8", "replace"))


_write_log = _library.LOG(_tell)
_tell_unraisable = sys.unraisablehook


def _keep_raised(unraisable: "sys.UnraisableHookArgs") -> None:
    """ctypes cannot raise through the library what _tell raises, and would have it printed and forgotten: Ctrl-C would have no effect. So it
    is raised when the call has returned."""
    trace = unraisable.exc_traceback
    if trace is not None and trace.tb_frame.f_code is _tell.__code__ and unraisable.exc_value is not None:
        _kept[threading.get_ident()] = unraisable.exc_value
    else:
        _tell_unraisable(unraisable)


sys.unraisablehook = _keep_raised


class _Item:
    """What was posted: a call of the library's, or a function of the program's."""

    __slots__ = ("future", "call", "post", "then", "request", "error")

    def __init__(self, future: "Future[Any]", call: Optional[Callable], post: Optional[Callable], then: Optional[Callable]):
        self.future, self.call, self.post, self.then = future, call, post, then
        self.request: Optional[ctypes.c_void_p] = None  # the library has it
        self.error: Optional[Exception] = None  # it was not taken, or was and something was raised meanwhile


class _Calls:
    """A job of the library's, and what is called of it, in order. The thread that makes what was posted has this and no Job, so
    that one that nobody has any more is left."""

    def __init__(self, job: ctypes.c_void_p, refused: str = "the job is closed"):
        """refused: the words for calls when there is no job any more."""
        self.job, self.refused, self.closing = job, refused, False
        self.making, self.ending, self.posting = threading.RLock(), threading.RLock(), threading.Condition()
        self.posted: "collections.deque[_Item]" = collections.deque()
        self.poster: Optional[threading.Thread] = None

    def is_poster(self) -> bool:
        return self.poster is threading.current_thread()

    def is_left(self) -> bool:
        return self.closing or not self.job

    def close(self, waits: bool = True) -> None:
        with self.posting:
            self.closing = True
            poster = self.poster
            self.posting.notify()
        if poster is None:
            self._free()
        elif waits and not self.is_poster():
            poster.join()

    def _free(self) -> None:
        with self.making:
            with self.ending:
                job, self.job = self.job, ctypes.c_void_p()
            _swagg.swagg_close(job)
        _raise_kept()

    def open(self) -> ctypes.c_void_p:
        if not self.job:
            raise ValueError(self.refused)
        return self.job

    def make(self, call: Callable[..., int], *arguments: Any) -> None:
        if self.poster is not None and not self.is_poster():
            self._make_behind(_Item(Future(), lambda: self.make(call, *arguments), None, None))
            return
        with self.making:
            _check(call(self.open(), *arguments))

    def _make_behind(self, item: _Item) -> None:
        """Makes a blocking call when all that was posted has ended. Its buffers are the caller's, and in use until then: what the handler of
        a signal raises is raised afterwards, as where the library makes the call in this thread."""
        heard: Optional[BaseException] = None
        try:
            self._append(item)
        except BaseException as raised:
            heard = raised
        while True:
            try:
                with self.posting:
                    if item not in self.posted:
                        break
                concurrent.futures.wait([item.future])
            except BaseException as raised:
                heard = raised
        if heard is not None:
            raise heard
        item.future.result()

    def post(self, call: Optional[Callable], post: Optional[Callable], then: Optional[Callable]) -> "Future[Any]":
        item = _Item(Future(), call, post, then)
        self._append(item)
        return item.future

    def _append(self, item: _Item) -> None:
        item.future.set_running_or_notify_cancel()  # every rank makes it: there is no way back
        with self.posting:
            self.open()
            if self.closing:
                raise ValueError(self.refused)
            if self.poster is None:
                self.poster = threading.Thread(target=self._make_posted, name="swagg", daemon=True)
                self.poster.start()
            self.posting.notify()  # before it is there: from then on a signal's handler may raise
            self.posted.append(item)
            self._hand_on()

    def _hand_on(self) -> None:
        """Gives the library what it may have now: nothing behind a function, which may make calls itself. With the lock."""
        for item in self.posted:
            if item.call is not None:
                return
            if item.request is not None or item.error is not None:
                continue
            request = ctypes.c_void_p()
            try:
                status = item.post(ctypes.byref(request))
                if status == Status.FULL:
                    return
                _check(status)
            except Exception as raised:
                item.error = raised
            finally:
                if request:  # the library has it, whatever was raised
                    item.request = request

    def _end(self, item: _Item):
        if item.call is not None:
            return item.call()
        if item.request is not None:
            _check(_swagg.swagg_wait(ctypes.byref(item.request)))
        if item.error is not None:
            raise item.error
        return item.then() if item.then is not None else None

    def _make_posted(self):
        while True:
            with self.posting:
                while not self.posted and not self.closing:
                    self.posting.wait()
                if not self.posted:
                    break
                item = self.posted[0]
                self._hand_on()
            error = result = None
            try:
                result = self._end(item)
            except BaseException as raised:  # the future's to raise
                error = raised
            with self.posting:
                self.posted.popleft()
                self._hand_on()
            future = item.future
            del item  # before anybody hears of it: buffers, and what the call was of, are the caller's again
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
            del future, error, result
        self._free()


def _how(ready: Optional[int]) -> "_library.Post":
    return _library.Post(struct_size=ctypes.sizeof(_library.Post), ready=ready)


_open_jobs: "weakref.WeakSet[Job]" = weakref.WeakSet()


@atexit.register
def _leave() -> None:
    """The program ends: jobs that are idle are left properly. The peers of the others hear of a rank that is lost."""
    for job in list(_open_jobs):
        if not job._calls.posted:
            job.close()


def _leave_to_parent() -> None:
    for job in list(_open_jobs):
        job._calls = _Calls(ctypes.c_void_p(), "the job was opened before this process was forked: open another")


os.register_at_fork(after_in_child=_leave_to_parent)


def _allreduce_named(name: int, job: ctypes.c_void_p, *arguments: Any) -> int:
    _swagg.swagg_name_tensor(job, name)
    return _swagg.swagg_allreduce(job, *arguments)


class Job:
    """A rank's part in a job. Every rank makes the same calls in the same order.

    `options` are those of docs/libswagg.md, by their names: Job(switch_ip="10.0.0.254", job="train", rank=0, size=4).
    None stands for an option's default. Waits until all ranks have come (join_timeout_ms). What the library says goes to
    the logger "swagg".

    Blocking calls take the addresses of buffers in the host's byte order; arrays are taken by the functions of the package.
    Calls from several threads wait for each other. What is posted is done in the order in which it was posted, and blocking
    calls wait until all that is done: calls of post_allreduce() and its kin travel at the same time, the function of post() is
    called by a thread of the job's when what was posted before has ended. A job that is not closed, and that nobody has any
    more, is left with a ResourceWarning when what was posted has ended. A child process has no part in a job that was opened
    before the fork: it opens another."""

    def __init__(self, **options: Any):
        said = {name: str(value).encode() for name, value in options.items() if value is not None}
        for name, value in said.items():
            if b"\0" in value:
                raise ValueError(f"{name}: {options[name]!r} has a NUL character, where the library's texts end")
        words = (_library.Word * len(said))(*((name.encode(), value) for name, value in said.items()))
        job = ctypes.c_void_p()
        status = _swagg.swagg_open_words(ctypes.byref(job), words, len(said), _write_log, None)
        try:
            _check(status)
        except BaseException:
            _swagg.swagg_close(job)
            raise
        self._calls = _Calls(job)
        self.rank, self.size = int(options.get("rank") or 0), int(options["size"])
        _open_jobs.add(self)

    def allreduce(self, send: int, recv: int, count: int, type: Type, op: Op = Op.SUM, name: int = 0) -> None:
        """recv[i] = op over all ranks' send[i]; they may be the same. name: of the tensor, for compressed calls (swagg_name_tensor)."""
        self._calls.make(functools.partial(_allreduce_named, name) if name else _swagg.swagg_allreduce, send, recv, count, type, op)

    def allreduce_many(self, segments: Sequence[tuple[int, int, int]], type: Type, op: Op = Op.SUM) -> None:
        """allreduce of several tensors in one stream: (send, recv, count) of each."""
        array = (_library.Segment * len(segments))(*segments)
        self._calls.make(_swagg.swagg_allreducev, array, len(segments), type, op)

    def reduce(self, send: int, recv: Optional[int], count: int, type: Type, op: Op = Op.SUM, root: int = 0) -> None:
        """As allreduce, but only the root gets the result."""
        self._calls.make(_swagg.swagg_reduce, send, recv, count, type, op, root)

    def broadcast(self, buffer: int, bytes: int, root: int = 0) -> None:
        """Every rank's buffer becomes the root's."""
        self._calls.make(_swagg.swagg_broadcast, buffer, bytes, root)

    def allgather(self, send: int, recv: int, bytes: int) -> None:
        """recv, of `size` blocks of so many bytes, has each rank's send, in their order; send may be where it goes."""
        self._calls.make(_swagg.swagg_allgather, send, recv, bytes)

    def gather(self, send: int, recv: Optional[int], bytes: int, root: int = 0) -> None:
        """As allgather, but only the root gets the blocks."""
        self._calls.make(_swagg.swagg_gather, send, recv, bytes, root)

    def scatter(self, send: Optional[int], recv: int, bytes: int, root: int = 0) -> None:
        """recv, of so many bytes, is this rank's block of the root's send, which has `size` of them."""
        self._calls.make(_swagg.swagg_scatter, send, recv, bytes, root)

    def reduce_scatter(self, send: int, recv: int, count: int, type: Type, op: Op = Op.SUM) -> None:
        """recv, of count elements, is this rank's block of what allreduce gives of send, which has `size` of them."""
        self._calls.make(_swagg.swagg_reduce_scatter_block, send, recv, count, type, op)

    def barrier(self) -> None:
        """Returns when all ranks have called it."""
        self._calls.make(_swagg.swagg_barrier)

    def has_exchanges(self) -> bool:
        """Whether the job has broadcast, allgather, gather, scatter and reduce_scatter: on every rank alike."""
        with self._calls.ending:
            return _check(_swagg.swagg_has_exchanges(self._calls.open())) == 1

    def reaches_gpus(self) -> bool:
        """Whether calls take addresses of tensors in GPUs' memory, too: the program has loaded CUDA's driver. What writes such a tensor must be done
        when a call is made of it, or before an event that a posted one is given (ready)."""
        with self._calls.ending:
            return _check(_swagg.swagg_reaches_gpus(self._calls.open())) == 1

    def post(self, call: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """call(*arguments), which may make blocking calls of this job, in a thread of the job's own. The caller's
        buffers are in use until the future is done."""
        return self._calls.post(lambda: call(*arguments), None, None)

    def post_allreduce(self, send: int, recv: int, count: int, type: Type, op: Op = Op.SUM, name: int = 0,
                       then: Optional[Callable[[], Any]] = None, left_out: Optional[int] = None, round: int = 0,
                       ready: Optional[int] = None) -> "Future[Any]":
        """allreduce that goes on while the program does something else; the buffers are in use until the future is done. Its
        result is that of then(), which the job's thread calls when the sum is there. left_out, round: of a compressed call whose
        feedback the program keeps. ready: of tensors in a GPU's memory, CUDA's event that was recorded behind what writes them, and
        is there until the call has ended (struct swagg_post)."""
        how = _library.Post(ctypes.sizeof(_library.Post), 0, name, left_out, round, ready)
        return self._calls.post(None, lambda request: _swagg.swagg_post_allreduce(self._calls.open(), send, recv, count, type, op, how, request), then)

    def post_allreduce_many(self, segments: Sequence[tuple[int, int, int]], type: Type, op: Op = Op.SUM,
                            then: Optional[Callable[[], Any]] = None, ready: Optional[int] = None) -> "Future[Any]":
        """The same of allreduce_many."""
        array = (_library.Segment * len(segments))(*segments)
        return self._calls.post(None, lambda request: _swagg.swagg_post_allreducev(self._calls.open(), array, len(segments), type, op, _how(ready), request), then)

    def post_reduce(self, send: int, recv: Optional[int], count: int, type: Type, op: Op = Op.SUM, root: int = 0,
                    then: Optional[Callable[[], Any]] = None, ready: Optional[int] = None) -> "Future[Any]":
        """The same of reduce."""
        return self._calls.post(None, lambda request: _swagg.swagg_post_reduce(self._calls.open(), send, recv, count, type, op, root, _how(ready), request), then)

    def post_broadcast(self, buffer: int, bytes: int, root: int = 0, then: Optional[Callable[[], Any]] = None, ready: Optional[int] = None) -> "Future[Any]":
        """The same of broadcast."""
        return self._calls.post(None, lambda request: _swagg.swagg_post_broadcast(self._calls.open(), buffer, bytes, root, _how(ready), request), then)

    def post_allgather(self, send: int, recv: int, bytes: int, then: Optional[Callable[[], Any]] = None, ready: Optional[int] = None) -> "Future[Any]":
        """The same of allgather."""
        return self._calls.post(None, lambda request: _swagg.swagg_post_allgather(self._calls.open(), send, recv, bytes, _how(ready), request), then)

    def post_reduce_scatter(self, send: int, recv: int, count: int, type: Type, op: Op = Op.SUM,
                            then: Optional[Callable[[], Any]] = None, ready: Optional[int] = None) -> "Future[Any]":
        """The same of reduce_scatter."""
        return self._calls.post(None, lambda request: _swagg.swagg_post_reduce_scatter_block(self._calls.open(), send, recv, count, type, op, _how(ready), request), then)

    def post_barrier(self) -> "Future[Any]":
        """The same of barrier."""
        return self._calls.post(None, lambda request: _swagg.swagg_post_barrier(self._calls.open(), None, request), None)

    def is_poster(self) -> bool:
        """Whether this is the thread that makes posted calls: nothing that is posted is done before it goes on."""
        return self._calls.is_poster()

    def stats(self) -> dict[str, float]:
        """Totals since the job was opened, of this rank: struct swagg_stats of swagg.h."""
        stats = _library.Stats(struct_size=ctypes.sizeof(_library.Stats))
        with self._calls.ending:
            _check(_swagg.swagg_get_stats(self._calls.open(), stats))
        return {name: getattr(stats, name) for name, _ in stats._fields_[1:]}

    def waits(self) -> list[float]:
        """How long this rank has waited for each of the ranks since the job was opened, in seconds: swagg_get_waits."""
        waited_ns = (ctypes.c_uint64 * self.size)()
        with self._calls.ending:
            _check(_swagg.swagg_get_waits(self._calls.open(), waited_ns, self.size))
        return [ns / 1e9 for ns in waited_ns]

    def abort(self, why: str = "") -> None:
        """Ends the job on all ranks: their calls fail with this text, and so do this rank's, at once. From any thread."""
        with self._calls.ending:
            if self._calls.job:
                _swagg.swagg_abort(self._calls.job, why.encode("utf-8", "replace"))

    def close(self) -> None:
        """Waits for what was posted, leaves the job and frees everything. A second time: nothing. In the job's own thread, where
        destructors may run, it does not wait: that thread leaves the job when it has made what was posted."""
        self._calls.close()

    def __del__(self) -> None:
        calls = getattr(self, "_calls", None)  # None: it was not opened
        if calls is not None and not calls.is_left():
            warnings.warn(f"a job of {self.size} ranks was not closed", ResourceWarning, source=self)
            calls.close(waits=False)

    def __enter__(self) -> "Job":
        return self

    def __exit__(self, kind, error, trace) -> None:
        if error is not None:
            self.abort(f"{kind.__name__}: {error}"[:200])
        self.close()
