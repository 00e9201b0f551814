#!/usr/bin/python3
"""The package swagg, of numpy arrays: swagg_arrays.py BUILD_DIRECTORY."""
import ctypes
import importlib.util
import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ranks

if __name__ == "__main__":
    BUILD = ranks.build_directory()
import numpy as np
import swagg

RANKS = 3
IN_NUMPY = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "land": np.logical_and, "lor": np.logical_or,
            "lxor": np.logical_xor, "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor}
LOCALS = ("auto", "off")  # ranks of one host sum in its memory, or each by itself, on the wire
KINDS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?", "c8", "c16")


def test_version(server):
    """What pip sees is what the library is."""
    said = (ranks.ROOT / "python/pyproject.toml").read_text()
    assert f'version = "{swagg.version().split("+")[0]}"' in said, swagg.version()


def test_variables(server):
    """Those of the shim that are no options of the library's torch_swagg passes over: they are no mistakes."""
    spec = importlib.util.spec_from_file_location("jobs", ranks.ROOT / "python/torch_swagg/jobs.py")
    jobs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(jobs)
    shims = re.findall(r"^\| `(SWAGG_\w+)` \|", (ranks.ROOT / "docs/mpi.md").read_text(), re.M)
    own = {name for name in shims if swagg.option_of_variable(name) is None}
    assert "SWAGG_MIN_BYTES" in own and own <= jobs.OTHERS, own - jobs.OTHERS


IN_THE_WHEEL = """
import base64, hashlib, importlib.metadata, os, swagg, sys
assert swagg.__file__.startswith(sys.path[1]), (swagg.__file__, sys.path)
assert importlib.metadata.version("swagg") == swagg.version().split("+")[0]
listed = importlib.metadata.files("swagg")
for path in listed:
    if path.hash is not None:
        assert base64.urlsafe_b64encode(hashlib.sha256(path.read_binary()).digest()).rstrip(b"=").decode() == path.hash.value, path
assert {"swagg/_job.py", "torch_swagg/group.py", "swagg_profile/__init__.py"} <= {str(path) for path in listed}
entry, = importlib.metadata.entry_points(group="torch.backends")
assert entry.load().__name__ == "autoload"
"""


def test_wheel(server):
    """It has what is here, and says what pip and torch ask; where there is no libswagg, or no torch, torch is none the worse for it."""
    wheel, = (BUILD / "python").glob("*.whl")
    for code, more in ((IN_THE_WHEEL, {}), ("import torch_swagg_autoload; torch_swagg_autoload.autoload()", {"SWAGG_LIBRARY": "/nowhere.so"})):
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(wheel), **more})


def job(server, name, rank, **options):
    patience = {option: ranks.PATIENCE_S * 1000 for option in ("answer_timeout_ms", "join_timeout_ms", "call_timeout_ms")}
    return swagg.Job(switch_ip=server, job=name, rank=rank, size=RANKS, **patience, **options)


def array(kind, rank, count=1000):
    """Small numbers, so that floats' sums and products are exact."""
    return np.random.default_rng(rank + 7).integers(0, 2 if kind == "?" else 4, count).astype(kind)


def every_type(rank, server):
    for local in LOCALS:
        with job(server, f"types {local}", rank, local=local) as j:
            for kind in KINDS:
                all_arrays = [array(kind, r) for r in range(RANKS)]
                for name, function in IN_NUMPY.items():
                    try:
                        result = swagg.allreduce(j, all_arrays[rank], name)
                    except TypeError:
                        continue
                    expected = function(function(all_arrays[0], all_arrays[1]), all_arrays[2]).astype(kind)
                    assert result.dtype == np.dtype(kind) and np.array_equal(result, expected), (kind, name, result, expected)
            assert j.stats()["calls"] > len(KINDS) * 4


def test_types(server):
    ranks.run(every_type, RANKS, server)


def exchanges(rank, server):
    with job(server, "exchanges", rank) as j:
        assert j.has_exchanges()
        all_arrays = np.stack([array("i8", r).reshape(20, 50) for r in range(RANKS)])
        mine = all_arrays[rank].copy()
        whole = swagg.allgather(j, mine.T)  # not contiguous
        assert np.array_equal(whole, all_arrays.transpose(0, 2, 1))
        part = swagg.reduce_scatter(j, all_arrays.reshape(RANKS * 20, 50))
        assert np.array_equal(part, mine * RANKS)
        assert swagg.broadcast(j, part, root=2) is part and np.array_equal(part, all_arrays[2] * RANKS)
        whole = swagg.gather(j, mine, root=1)
        assert np.array_equal(whole, all_arrays) if rank == 1 else whole is None
        assert np.array_equal(swagg.scatter(j, whole, np.zeros_like(mine), root=1), mine)
        raises(ValueError, "writable contiguous", swagg.broadcast, j, mine.T)
        raises(TypeError, "cannot be sent", swagg.allgather, j, np.array([None]))
        raises(ValueError, "cannot be divided", swagg.reduce_scatter, j, np.ones(RANKS + 1))
        mine.flags.writeable = False
        assert np.array_equal(swagg.allgather(j, mine), all_arrays) and swagg.allgather(j, mine[:0]).shape == (RANKS, 0, 50)
        days = np.full(3, rank, "M8[D]")
        assert np.array_equal(swagg.allgather(j, days)[:, 0].astype("i8"), range(RANKS))
        words = np.array([f"from rank {rank}"])
        assert swagg.broadcast(j, words, 2)[0] == "from rank 2"
        j.barrier()


def test_exchanges(server):
    ranks.run(exchanges, RANKS, server)


def shapes_and_ways(rank, server):
    for local in LOCALS:
        with job(server, f"ways {local}", rank, local=local) as j:
            matrix = np.arange(12, dtype="f4").reshape(3, 4) + rank
            expected = np.arange(12, dtype="f4").reshape(3, 4) * 3 + 3
            assert np.array_equal(swagg.allreduce(j, matrix), expected)
            assert np.array_equal(swagg.allreduce(j, matrix.T), expected.T)  # not contiguous
            assert swagg.allreduce(j, matrix, "avg", out=matrix) is matrix and np.array_equal(matrix, expected / 3)
            assert swagg.allreduce(j, np.float64(rank), swagg.Op.MAX) == 2
            assert swagg.allreduce(j, np.zeros(0, "i4")).size == 0
            root = swagg.reduce(j, np.full(5, rank), root=1)
            assert (root is None) == (rank != 1) and (root is None or np.array_equal(root, np.full(5, 3)))
            posted = [swagg.post_allreduce(j, np.full(100 * i, i)) for i in range(20)]
            assert np.array_equal(swagg.allreduce(j, np.ones(3, "i4")), [3, 3, 3])  # behind them
            assert all(future.done() and np.array_equal(future.result(), np.full(100 * i, 3 * i)) for i, future in enumerate(posted))
            # More than libswagg takes at once, and functions between them that make calls themselves: in one order on all ranks.
            posted = [j.post(swagg.allreduce, j, np.full(10, i)) if i % 40 == 7 else swagg.post_allreduce(j, np.full(10 + i, i)) for i in range(200)]
            assert all(np.array_equal(future.result(), np.full(10 if i % 40 == 7 else 10 + i, 3 * i)) for i, future in enumerate(posted))
            many = swagg.allreduce_many(j, [np.ones(2), np.zeros((0, 3)), np.full((2, 2), 2.0)])
            assert [m.tolist() for m in many] == [[3, 3], [], [[6, 6], [6, 6]]]


def test_ways(server):
    ranks.run(shapes_and_ways, RANKS, server)


def closes(rank, server):
    """A job's own thread may close it, and several threads at once: what was posted ends first, with its result."""
    j = job(server, "closed by its thread", rank)
    all_are_posted = threading.Event()
    posted = [j.post(swagg.allreduce, j, np.ones(10)), j.post(lambda: all_are_posted.wait() and j.close()), *(swagg.post_allreduce(j, np.full(10, i)) for i in range(5))]
    all_are_posted.set()
    assert posted[0].result()[0] == RANKS and posted[1].result() is None
    raises(ValueError, "the job is closed", lambda: [swagg.post_allreduce(j, np.ones(1)) for _ in range(10)])
    assert [future.result(ranks.PATIENCE_S)[0] for future in posted[2:]] == [RANKS * i for i in range(5)]
    j.close()
    raises(ValueError, "the job is closed", j.waits)

    j = job(server, "closed by several", rank)
    posted = [swagg.post_allreduce(j, np.full(10, i)) for i in range(5)]
    closers = [threading.Thread(target=j.close) for _ in range(4)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join()
        assert all(future.done() for future in posted)
        raises(ValueError, "the job is closed", j.stats)
    assert [future.result()[0] for future in posted] == [RANKS * i for i in range(5)]

    with job(server, "mistaken", rank) as j:
        posted = [j.post_allreduce(1.5, 0, 1, swagg.Type.INT32), swagg.post_allreduce(j, np.ones(1))]
        raises(ctypes.ArgumentError, "", posted[0].result, ranks.PATIENCE_S)
        assert posted[1].result(ranks.PATIENCE_S)[0] == RANKS


def test_closes(server):
    ranks.run(closes, RANKS, server)


def dropped(rank, server):
    """A job that nobody has any more is left, so that the next of its name can begin. What was posted ends first, with its result."""
    for posts in (False, True):
        j = job(server, "dropped", rank)
        assert not posts or swagg.post_allreduce(j, np.ones(10)).result()[0] == RANKS
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            del j
        assert [w.category for w in heard] == [ResourceWarning], heard
    j = job(server, "dropped", rank)
    posted = [swagg.post_allreduce(j, np.full(10, i)) for i in range(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del j
        assert [future.result(ranks.PATIENCE_S)[0] for future in posted] == [RANKS * i for i in range(5)]
        with job(server, "dropped", rank) as j:
            assert swagg.allreduce(j, np.ones(1))[0] == RANKS


def test_dropped(server):
    ranks.run(dropped, RANKS, server)


def test_closes_after_questions(server):
    """Of another thread: what is asked of the library about the job is answered before it is freed."""
    library = swagg._job._swagg
    for name, question in (("swagg_get_stats", swagg.Job.stats), ("swagg_get_waits", swagg.Job.waits), ("swagg_has_exchanges", swagg.Job.has_exchanges),
                           ("swagg_reaches_gpus", swagg.Job.reaches_gpus)):
        real, close, freed = getattr(library, name), library.swagg_close, threading.Event()
        j = swagg.Job(job="asked", rank=0, size=1)
        closer = threading.Thread(target=j.close)

        def answer(*arguments):
            closer.start()
            assert not freed.wait(0.1), name
            return real(*arguments)

        def free(job):
            freed.set()
            close(job)

        setattr(library, name, answer)
        library.swagg_close = free
        try:
            question(j)
            closer.join()
        finally:
            setattr(library, name, real)
            library.swagg_close = close
        assert freed.is_set()


def in_child(j):
    """A job of its parent's is none of its."""
    raises(ValueError, "before this process was forked", swagg.allreduce, j, np.ones(1))
    raises(ValueError, "before this process was forked", swagg.post_allreduce, j, np.ones(1))
    j.close()


def forks(rank, server):
    """While another thread is in a call, whose lock the child would wait for."""
    with job(server, "forked", rank) as j:
        assert swagg.post_allreduce(j, np.ones(10)).result()[0] == RANKS
        called, forked = threading.Event(), threading.Event()
        future = j.post(lambda: j._calls.make(lambda _: (called.set(), 0 if forked.wait(ranks.PATIENCE_S) else -1)[1]))
        called.wait(ranks.PATIENCE_S)
        child = multiprocessing.get_context("fork").Process(target=in_child, args=(j,))
        child.start()
        forked.set()
        child.join()
        future.result()
        assert child.exitcode == 0 and swagg.allreduce(j, np.ones(1))[0] == RANKS


def test_forks(server):
    ranks.run(forks, RANKS, server)


def raises(kind, words, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), error
        return error
    raise AssertionError(f"no {kind.__name__}")


def mistakes(rank, server, meeting):
    raises(swagg.Error, 'did you mean "protocol"?', swagg.Job, protcol="atp")
    raises(swagg.Error, "must be one of switchml, atp, auto", swagg.Job, protocol="other")
    raises(swagg.Error, "it must be a number", swagg.Job, size="three")
    raises(ValueError, "has a NUL character", swagg.Job, job="two\0words")
    with job(server, "mistakes", rank) as j:
        raises(TypeError, "cannot be summed", swagg.allreduce, j, np.array(["text"]))
        raises(TypeError, "has no band", swagg.allreduce, j, np.ones(3), "band")
        raises(ValueError, "there is no operation", swagg.allreduce, j, np.ones(3), "add")
        raises(ValueError, "there is no operation", swagg.allreduce, j, np.ones(3), None)
        raises(ctypes.ArgumentError, "does not fit into 32 bits", swagg.reduce, j, np.ones(3), "sum", 1 << 40)
        raises(ValueError, "out must be", swagg.allreduce, j, np.ones(3), "sum", np.ones(4))
        assert swagg.allreduce(j, np.ones(1))[0] == RANKS
        meeting.wait()  # none is in that call still when the next one ends the job
        error = raises(swagg.Error, "", swagg.allreduce, j, np.ones(100 if rank else 200))
        assert error.status == swagg.Status.MISMATCH or error.status == swagg.Status.ABORTED, error
    raises(ValueError, "the job is closed", j.stats)


def test_mistakes(server):
    ranks.run(mistakes, RANKS, server, ranks.meeting(RANKS))


def one_raises(rank, server):
    """A program's own exception ends the others' calls, and tells them why."""
    try:
        with job(server, "raises", rank) as j:
            if rank == 1:
                swagg.allreduce(j, np.ones(1))
                raise KeyError("my own mistake")
            swagg.allreduce(j, np.ones(1))
            swagg.post_allreduce(j, np.ones(10)).result()
            raise AssertionError("rank 1 has not taken part")
    except KeyError:
        assert rank == 1
    except swagg.Error as error:
        assert rank != 1 and "my own mistake" in str(error), error


class Heard(logging.Handler):
    """Sets the event when the library's log has these words."""

    def __init__(self, words):
        super().__init__()
        self.words, self.event = words, threading.Event()

    def emit(self, record):
        if self.words in record.getMessage():
            self.event.set()


def abort_ends_a_call(rank, server, meeting):
    """At once, and that of another thread. Rank 2 does not make it."""
    heard = Heard("rank 0 aborted: no more")
    logging.getLogger("swagg").addHandler(heard)
    logging.getLogger("swagg").setLevel(logging.INFO)
    with job(server, "aborts", rank) as j:
        meeting.wait()  # none is joining still
        if rank == 0:
            future = swagg.post_allreduce(j, np.ones(5))
            j.abort("no more")
            assert raises(swagg.Error, "rank 0 aborted: no more", future.result).status == swagg.Status.ABORTED
        elif rank == 1:
            raises(swagg.Error, "rank 0 aborted: no more", swagg.allreduce, j, np.ones(5))
        else:
            assert heard.event.wait(ranks.PATIENCE_S)


def test_abort(server):
    ranks.run(abort_ends_a_call, RANKS, server, ranks.meeting(RANKS))


class Interrupting(logging.Handler):
    """Has this process hear Ctrl-C in the midst of a call, where the library writes its log, once all are in the meeting; while its main
    thread waits for another that makes the call, before they are."""

    def __init__(self, meeting):
        super().__init__()
        self.meeting = meeting

    def emit(self, record):
        if "no sum for chunk" in record.getMessage():
            logging.getLogger("swagg").removeHandler(self)
            if threading.current_thread() is not threading.main_thread():
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            self.meeting.wait()
            if threading.current_thread() is threading.main_thread():
                signal.raise_signal(signal.SIGINT)


def interrupted(rank, server, meeting):
    """What a signal's handler raises is not lost. The call has been made nevertheless, so the ranks are in step."""
    with job(server, "interrupted", rank, local="off", warn_after_ms=50) as j:
        if rank == 0:
            logging.getLogger("swagg").addHandler(Interrupting(meeting))
            raises(KeyboardInterrupt, "", swagg.allreduce, j, np.ones(5))
        else:
            meeting.wait()
            swagg.allreduce(j, np.ones(5))
        assert (swagg.allreduce(j, np.ones(5)) == RANKS).all()


def test_interrupted(server):
    ranks.run(interrupted, RANKS, server, ranks.meeting(RANKS))


def interrupted_behind(rank, server, meeting):
    """So where what was posted has a thread of its own: the buffers are in use until the call has ended."""
    with job(server, "interrupted-behind", rank, local="off", warn_after_ms=50) as j:
        swagg.post_allreduce(j, np.ones(5)).result()
        sums = np.zeros(5)
        if rank == 0:
            logging.getLogger("swagg").addHandler(Interrupting(meeting))
            raises(KeyboardInterrupt, "", swagg.allreduce, j, np.ones(5), "sum", sums)
        else:
            meeting.wait()
            swagg.allreduce(j, np.ones(5), "sum", sums)
        assert (sums == RANKS).all()
        assert (swagg.allreduce(j, np.ones(5)) == RANKS).all()


def test_interrupted_behind(server):
    ranks.run(interrupted_behind, RANKS, server, ranks.meeting(RANKS))


def interrupted_posting(rank, server):
    """A call that the library has is not posted once more."""
    library = swagg._job._swagg
    post = library.swagg_post_allreduce

    def post_and_hear(*arguments):
        library.swagg_post_allreduce = post
        assert post(*arguments) == 0
        raise KeyboardInterrupt

    with job(server, "interrupted-posting", rank) as j:
        if rank == 0:
            library.swagg_post_allreduce = post_and_hear
            raises(KeyboardInterrupt, "", swagg.post_allreduce, j, np.ones(5))
        else:
            assert (swagg.post_allreduce(j, np.ones(5)).result() == RANKS).all()
        assert (swagg.allreduce(j, np.full(5, 2.0)) == 2 * RANKS).all()


def test_interrupted_posting(server):
    ranks.run(interrupted_posting, RANKS, server)


def test_one_raises(server):
    ranks.run(one_raises, RANKS, server)


if __name__ == "__main__":
    ranks.main(ranks.Server(BUILD).address, (test_version, test_variables, test_wheel, test_types, test_exchanges, test_ways, test_closes, test_dropped, test_closes_after_questions, test_forks, test_mistakes, test_abort, test_interrupted, test_interrupted_behind, test_interrupted_posting, test_one_raises))
