#!/usr/bin/python3
"""torch_swagg, as programs of PyTorch's see it: torch_group.py BUILD_DIRECTORY. Needs torch (script/test torch installs it).

CREATIONS: how many process groups are made and ended, 60 unless it says more."""
import contextlib
import ctypes
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from datetime import timedelta
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ranks

if __name__ == "__main__":
    BUILD = ranks.build_directory()
os.environ.update(OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
import swagg
import torch
import torch.distributed as dist
import torch_swagg
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from sharded import FullyShardedDataParallel, on_cpus
from torch_swagg import hooks, tensors

RANKS = 3
REDUCE = dist.ReduceOp
DTYPES = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = DTYPES[:5]
# What a job is to have besides: ranks of one host sum in its memory, or each by itself, on the wire; the last has no exchanges.
WAYS = {"": {}, "on the wire": {"SWAGG_LOCAL": "off"}, "by ATP": {"SWAGG_PROTOCOL": "atp", "SWAGG_LOCAL": "off"}}


@contextlib.contextmanager
def environment(settings):
    os.environ.update(settings)
    yield
    for name in settings:
        del os.environ[name]


class Group:
    """The default group, for as long as a test's rank needs it."""

    def __init__(self, server, file, backend, rank, size=RANKS, timeout_s=ranks.PATIENCE_S):
        os.environ["SWAGG_SWITCH"] = server
        dist.init_process_group(backend, init_method=f"file://{file}", rank=rank, world_size=size, timeout=timedelta(seconds=timeout_s))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        dist.destroy_process_group()


def values(dtype, rank, shape=(5, 7)):
    """Small, so that sums and products are exact."""
    return torch.randint(0, 4, shape, generator=torch.Generator().manual_seed(rank)).to(dtype)


def over_ranks(tensors, op):
    whole = torch.stack(tensors)
    wide = whole.double() if whole.dtype.is_floating_point else whole
    if op == REDUCE.SUM:
        result = wide.sum(0)
    elif op == REDUCE.PRODUCT:
        result = wide.prod(0)
    elif op == REDUCE.MIN:
        result = wide.amin(0)
    elif op == REDUCE.MAX:
        result = wide.amax(0)
    else:
        result = wide[0]
        for tensor in wide[1:]:
            result = {REDUCE.BAND: torch.bitwise_and, REDUCE.BOR: torch.bitwise_or, REDUCE.BXOR: torch.bitwise_xor}[op](result, tensor)
    return result.to(whole.dtype)


def sums(rank, server, file):
    for way in ("", "on the wire"):
        with environment(WAYS[way]), Group(server, file + way, "swagg", rank):
            sums_of(rank)


def sums_of(rank):
    for dtype in DTYPES:
        all_tensors = [values(dtype, r) for r in range(RANKS)]
        for op in (REDUCE.SUM, REDUCE.PRODUCT, REDUCE.MIN, REDUCE.MAX, REDUCE.BAND, REDUCE.BOR, REDUCE.BXOR):
            if op in (REDUCE.BAND, REDUCE.BOR, REDUCE.BXOR) and dtype not in INTEGERS:
                continue
            tensor, expected = all_tensors[rank].clone(), over_ranks(all_tensors, op)
            dist.all_reduce(tensor, op=op)
            assert torch.equal(tensor, expected), (dtype, op)
            tensor = all_tensors[rank].clone()
            dist.reduce(tensor, 1, op=op)
            assert rank != 1 or torch.equal(tensor, expected), (dtype, op)
    mean = torch.full((4,), float(rank))
    dist.all_reduce(mean, op=REDUCE.AVG)
    assert torch.equal(mean, torch.ones(4))
    flags = torch.tensor([rank == 0, True, False])
    dist.all_reduce(flags, op=REDUCE.MAX)
    assert flags.tolist() == [True, True, False]
    complex_ones = torch.ones(3, dtype=torch.complex64) * 1j
    dist.all_reduce(complex_ones)
    assert torch.equal(complex_ones, torch.full((3,), 3j))
    turned = torch.arange(6.0).reshape(2, 3).t()
    dist.all_reduce(turned)  # not contiguous
    assert torch.equal(turned, 3 * torch.arange(6.0).reshape(2, 3).t())
    try:
        dist.all_reduce(torch.ones(2), op=REDUCE.BAND)
        raise AssertionError("bits of floats")
    except TypeError as error:
        assert "no band of torch.float32" in str(error)


def test_sums(server):
    ranks.run(sums, RANKS, server, tempfile.mktemp())


def everything_else(rank, server, file):
    for way, settings in WAYS.items():
        with environment(settings), Group(server, file + way, "swagg", rank):
            everything_else_of(rank)
            assert dist.distributed_c10d._get_default_group()._exchanges == (way != "by ATP")


def everything_else_of(rank):
    own = torch.full((2,), float(rank))
    all_ranks = [torch.full((2,), float(r)) for r in range(RANKS)]
    there = own.clone()
    dist.broadcast(there, 2)
    assert torch.equal(there, all_ranks[2])
    outs = [torch.zeros(2) for _ in range(RANKS)]
    dist.all_gather(outs, own)
    assert all(map(torch.equal, outs, all_ranks))
    whole = torch.zeros(2 * RANKS)
    dist.all_gather_into_tensor(whole, own)
    assert torch.equal(whole, torch.cat(all_ranks))
    part = torch.zeros(2)
    dist.reduce_scatter(part, [own + r for r in range(RANKS)])
    assert torch.equal(part, torch.full((2,), 3.0 + 3 * rank))
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * RANKS), op=REDUCE.AVG)
    assert torch.equal(part, torch.arange(2.0) + 2 * rank)
    dist.gather(own, outs if rank == 0 else None, 0)
    dist.scatter(there, all_ranks if rank == 1 else None, 1)
    assert torch.equal(there, own)
    to, source = (rank + 1) % RANKS, (rank - 1) % RANKS
    sending = dist.isend(own, to)
    dist.recv(there, source)
    sending.wait()
    assert torch.equal(there, all_ranks[source])
    exchanged = torch.zeros(RANKS)
    dist.all_to_all_single(exchanged, torch.arange(float(RANKS)) + 10 * rank)
    assert torch.equal(exchanged, torch.tensor([10.0 * r + rank for r in range(RANKS)]))
    objects = [None] * RANKS
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(RANKS)]
    works = [dist.all_reduce(torch.ones(1000 * i), async_op=True) for i in range(1, 30)]
    dist.barrier()
    assert all(work.is_completed() and work.is_success() for work in works)
    assert torch.equal(works[3].get_future().wait()[0], torch.full((4000,), float(RANKS)))
    many = [torch.full((2, 3), float(i + rank)).t() if i % 2 else torch.full((i,), float(i + rank)) for i in range(6)]
    dist.all_reduce_coalesced(many)
    assert all(torch.equal(t, torch.full_like(t, 3.0 * i + 3)) for i, t in enumerate(many))
    try:
        dist.distributed_c10d._get_default_group().allreduce_coalesced([torch.ones(1), torch.ones(1, dtype=torch.int32)])
        raise AssertionError("two types in one call")
    except TypeError as error:
        assert "torch.float32, torch.int32" in str(error)
    pair = dist.new_group([0, 2])
    if rank != 1:
        two = torch.ones(3)
        dist.all_reduce(two, group=pair)
        assert torch.equal(two, torch.full((3,), 2.0))


def test_everything_else(server):
    ranks.run(everything_else, RANKS, server, tempfile.mktemp())


def bytes_by_gloo(rank, tensor, gloo):
    """What each rank has: gloo lacks some types."""
    flat = tensor.contiguous().reshape(-1)
    own = flat.view(torch.uint8) if flat.dtype != torch.bool else flat.to(torch.uint8)
    all_ranks = [torch.empty_like(own) for _ in range(RANKS)]
    dist.all_gather(all_ranks, own, group=gloo)
    return [(part.view(tensor.dtype) if tensor.dtype != torch.bool else part.bool()).reshape(tensor.shape) for part in all_ranks]


def exchanges(rank, server, file):
    """Of every type, contiguous or not: as gloo does it. Only the last rank knows where the switch is."""
    with Group(server if rank == RANKS - 1 else "", file, "swagg", rank):
        gloo, group = dist.new_group(backend="gloo"), dist.distributed_c10d._get_default_group()
        for dtype in (*DTYPES, torch.bool, torch.complex64, torch.complex128):
            for own in (values(dtype, rank), values(dtype, rank).t(), values(dtype, rank, (3000, 5))):
                theirs = bytes_by_gloo(rank, own, gloo)
                calls = group._job.stats()["calls"]
                parts, gathered, scattered = ([torch.zeros_like(own) for _ in range(RANKS)] for _ in range(3))
                there, whole, of_root = own.clone(), torch.zeros((RANKS, *own.shape), dtype=dtype), torch.zeros_like(own)
                works = [dist.all_gather(parts, own, async_op=True), dist.broadcast(there, 1, async_op=True),
                         dist.all_gather_into_tensor(whole, own.contiguous(), async_op=True),
                         dist.gather(own, gathered if rank == 2 else None, 2, async_op=True),
                         dist.scatter(of_root, theirs if rank == 0 else None, 0, async_op=True), dist.barrier(async_op=True)]
                if dtype in DTYPES:
                    works.append(dist.reduce_scatter(scattered[0], [own + r for r in range(RANKS)], async_op=True))
                    flat = torch.cat([t.reshape(-1) for t in theirs])
                    works.append(dist.reduce_scatter_tensor(flat[rank * own.numel():(rank + 1) * own.numel()], flat, async_op=True))  # in place
                for work in works:
                    work.wait()
                assert all(map(torch.equal, parts, theirs)) and torch.equal(there, theirs[1]) and torch.equal(whole, torch.stack(theirs)), dtype
                assert torch.equal(of_root, theirs[rank]) and (rank != 2 or all(map(torch.equal, gathered, theirs))), dtype
                if dtype in DTYPES:
                    assert torch.equal(scattered[0], over_ranks([t + rank for t in theirs], REDUCE.SUM)), dtype
                    assert torch.equal(flat.view(RANKS, -1)[rank], theirs[rank].reshape(-1) * RANKS), dtype
                assert group._job.stats()["calls"] == calls + len(works), dtype
        for wrong in (lambda: dist.all_gather_into_tensor(torch.zeros(RANKS), torch.zeros(2)), lambda: dist.all_gather([torch.zeros(2, dtype=torch.int32)] * RANKS, torch.zeros(2))):
            try:
                wrong()
                raise AssertionError("parts of another kind")
            except (ValueError, RuntimeError):
                pass


def test_exchanges(server):
    ranks.run(exchanges, RANKS, server, tempfile.mktemp())


class StandIn:
    """The driver of GPUs that libswagg's own tests have (tests/client/beside/gpu_stand_in.h): its memory no CPU can touch, its copies and events happen
    when they are told to. What torch does with a real GPU it says nothing of: streams, and tensors that are there, are pretended."""

    class Tensor(torch.Tensor):
        is_cuda = True

    def __init__(self, path):
        library = ctypes.CDLL(path)
        void, size, pointer, number = None, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
        kinds = {"alloc": (pointer, size, number), "free": (void, pointer), "put": (void, pointer, pointer, size), "get": (void, pointer, pointer, size), "fail": (void, pointer, number),
                 "hold": (void, number), "came_early": (ctypes.c_bool,), "left": (number,), "event": (pointer,), "happen": (void, pointer), "in_vain": (ctypes.c_ulong,)}
        at = ctypes.addressof(ctypes.c_char.in_dll(library, "gpu_stand_in"))
        for i, (name, kind) in enumerate(kinds.items()):
            setattr(self, name, ctypes.CFUNCTYPE(*kind)(pointer.from_address(at + i * ctypes.sizeof(pointer)).value))

    def tensor(self, values):
        size = values.numel() * values.element_size()
        there = torch.frombuffer((ctypes.c_char * size).from_address(self.alloc(size, 0)), dtype=values.dtype)
        self.write(there, values)
        return there.as_subclass(self.Tensor)

    def write(self, there, values):
        self.put(there.data_ptr(), values.data_ptr(), values.numel() * values.element_size())

    def read(self, there):
        values = torch.empty(there.numel(), dtype=there.dtype)
        self.get(values.data_ptr(), there.data_ptr(), values.numel() * values.element_size())
        return values

    def record_event(self):
        """Of the stream that is current, in which the last tensor is still being written."""
        written = threading.Event()
        self.last = mock.Mock(cuda_event=self.event(), synchronize=lambda: written.wait(ranks.PATIENCE_S), written=written)
        return self.last

    def finish(self, there, values):
        self.write(there, values)
        self.happen(self.last.cuda_event)
        self.last.written.set()


def on_a_gpu_of(rank, gpu, count):
    whole, parts = torch.zeros(RANKS * count), [torch.zeros(count) for _ in range(RANKS)]
    part, every = torch.zeros(count // RANKS), [torch.full((count,), 1.0 + r) for r in range(RANKS)]
    calls = (lambda t: dist.all_reduce(t, async_op=True), lambda t: dist.reduce(t, 2, async_op=True), lambda t: dist.reduce_scatter_tensor(part, t, async_op=True),
             lambda t: dist.all_gather_into_tensor(whole, t, async_op=True), lambda t: dist.gather(t, parts if rank == 1 else None, 1, async_op=True),
             lambda t: dist.broadcast(t, 0, async_op=True))
    got = []
    for begin in calls:
        own = every[rank].clone()
        tensor, before = gpu.tensor(torch.zeros(count)) if rank == 0 else own, gpu.in_vain()
        work = begin(tensor)
        if rank == 0:
            if begin is not calls[4]:  # which the group's thread makes, when the event has happened
                ranks.wait_until(lambda: gpu.in_vain() >= before + 3 or work.is_completed(), "the library has looked at the event")
            assert not work.is_completed()
            gpu.finish(tensor, own)
        work.wait()
        got.append(gpu.read(tensor) if rank == 0 else own)
    assert torch.equal(got[0], sum(every)) and (rank != 2 or torch.equal(got[1], sum(every))) and torch.equal(got[5], every[0])
    assert torch.equal(part, sum(every)[:count // RANKS]) and torch.equal(whole, torch.cat(every)) and (rank != 1 or all(map(torch.equal, parts, every)))


def on_a_gpu(rank, server, file, path):
    """Rank 0's tensors are a GPU's, and are written when the calls have begun: these return before that, and give what was written."""
    for way in ("", "on the wire"):
        with environment({**WAYS[way], "SWAGG_GPU_DRIVER": path}), Group(server, file + way, "swagg", rank):
            gpu = StandIn(path)
            with mock.patch.object(torch.cuda, "current_stream", lambda _: gpu), \
                    mock.patch("torch_swagg.group.torch_future", lambda done, value, _: tensors.torch_future(done, value, [])):
                for count in (300, 900000):
                    on_a_gpu_of(rank, gpu, count)


def test_on_a_gpu(server):
    ranks.run(on_a_gpu, RANKS, server, tempfile.mktemp(), str(BUILD / "tests/client/libgpu-stand-in.so"))


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 16)
        self.layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.out = torch.nn.Linear(16, 10)

    def forward(self, x):
        return self.out(self.layer(self.embed(x)).mean(1))


def networks():
    torch.manual_seed(5)
    yield torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 36, 10)), lambda g: torch.randn(4, 1, 8, 8, generator=g)
    yield Transformer(), lambda g: torch.randint(0, 50, (4, 12), generator=g)


def train(network, batch, rank, hook=None, steps=5, uneven=False, sharded=False, fully=False):
    model = FullyShardedDataParallel(network) if fully else DistributedDataParallel(network, bucket_cap_mb=0.01)  # several buckets
    state = hooks.SwaggState(compress_least=64)
    if hook is not None:
        model.register_comm_hook(state, hook)
    kind = {"lr": 0.05, "momentum": 0.9}
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, **kind) if sharded else torch.optim.SGD(model.parameters(), **kind)
    generator = torch.Generator().manual_seed(rank)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch(generator)), torch.arange(4) + rank).backward()
        optimizer.step()

    if uneven:
        with model.join():
            for _ in range(steps + rank):
                step()
    else:
        for _ in range(steps):
            step()
    state.close()
    with FullyShardedDataParallel.summon_full_params(model) if fully else contextlib.nullcontext():
        return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def trainings(rank, server, file):
    """With each backend and hook; swagg's twice. Kept by rank 0 in FILE.way."""
    for way in ("gloo", "swagg", "swagg again", "wire swagg", "zero swagg", "fully swagg", "swagg_hook", "fp16_hook", "int32_hook", "thc_hook", "uneven gloo", "uneven swagg"):
        hook = getattr(hooks, way, None)
        backend = "swagg" if way.split()[-1] in ("swagg", "again") else "gloo"
        on_the_wire = hook is not None or way == "wire swagg"
        with environment(WAYS["on the wire"] if on_the_wire else {}), Group(server, f"{file}.store.{way}", backend, rank):
            with on_cpus() if "fully" in way else contextlib.nullcontext():
                weights = torch.cat([train(network, batch, rank, hook, uneven="uneven" in way, sharded="zero" in way, fully="fully" in way) for network, batch in networks()])
            alike = [torch.empty_like(weights) for _ in range(RANKS)]
            dist.all_gather(alike, weights)
            if "uneven" not in way:
                assert all(torch.equal(a, weights) for a in alike), f"{way}: ranks have other models"
        if rank == 0:
            torch.save(weights, f"{file}.{way}")


def test_trainings(server):
    file = tempfile.mktemp()
    ranks.run(trainings, RANKS, server, file)
    got = {path[len(file) + 1:]: torch.load(path) for path in map(str, Path(file).parent.glob(Path(file).name + ".*")) if ".store." not in path}
    assert torch.equal(got["swagg"], got["swagg again"]), "two runs differ"
    assert torch.equal(got["swagg"], got["zero swagg"]), "it is another optimizer where its state is divided among the ranks"
    for way, near in (("swagg", 1e-5), ("wire swagg", 1e-5), ("fully swagg", 1e-5), ("swagg_hook", 1e-5), ("int32_hook", 1e-4), ("fp16_hook", 1e-2), ("thc_hook", 0.3)):
        off = (got[way] - got["gloo"]).norm() / got["gloo"].norm()
        assert off < near and (way != "thc_hook" or off > 0), (way, off)
    assert torch.allclose(got["uneven swagg"], got["uneven gloo"], atol=1e-5)


def watched_thc_hook(state, bucket):
    """What was left out of a parameter stays with it when buckets are made anew. state.began: whether anything was left out before the first call."""
    kept = state.feedback
    state.job(numbers="native", compression="thc")
    state.began = vars(state).get("began", any(part.any() for part in kept.parts.values()))
    before = {p: kept.parts[n].clone() for p, n in kept.numbers.items() if n in kept.parts}
    for p, part in zip(bucket.parameters(), kept.of(bucket).split([p.numel() for p in bucket.parameters()])):
        assert p not in before or torch.equal(part, before[p])
    return hooks.thc_hook(state, bucket)


STEPS = 6


def go_on(rank, checkpoint, first, last, anew=False, whose=None):
    """Steps of a training, from the checkpoint of those before on and to the next, if there is one. anew: buckets are made anew after the first step. whose: left-outs
    this rank finds; None: nobody's."""
    network, batch = next(networks())
    model = DistributedDataParallel(network, bucket_cap_mb=0.01, find_unused_parameters=not anew)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    state = hooks.SwaggState(compress_least=64)
    if first > 0:
        model.load_state_dict(torch.load(f"{checkpoint}.{rank}.model")), optimizer.load_state_dict(torch.load(f"{checkpoint}.{rank}.optimizer"))
        if whose is not None and rank == 0:
            state = torch.load(f"{checkpoint}.{whose}.pickled")
        elif whose is not None:
            state.load_state_dict(torch.load(f"{checkpoint}.{whose}.state"))
    model.register_comm_hook(state, watched_thc_hook)
    for step in range(first, last):
        generator = torch.Generator().manual_seed(100 * step + rank)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch(generator)), torch.arange(4) + rank).backward()
        optimizer.step()
    left_out = state.state_dict()
    assert state.began == (whose == rank)
    assert len(left_out["left_out"]) == len(list(model.parameters())) and any(part.any() for part in left_out["left_out"])
    if checkpoint:
        for what, value in (("model", model.state_dict()), ("optimizer", optimizer.state_dict()), ("state", left_out), ("pickled", state)):
            torch.save(value, f"{checkpoint}.{rank}.{what}")
    state.close()
    weights = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    alike = [torch.empty_like(weights) for _ in range(RANKS)]
    dist.all_gather(alike, weights)
    assert all(torch.equal(a, weights) for a in alike), "ranks have other models"
    return weights, left_out["left_out"]


def before_the_pause(rank, server, file):
    with Group(server, f"{file}.before", "gloo", rank):
        torch.save(go_on(rank, None, 0, STEPS), f"{file}.{rank}.whole")
        go_on(rank, None, 0, 3, anew=True)
        go_on(rank, file, 0, STEPS // 2)


def behind_the_pause(rank, server, file):
    with Group(server, f"{file}.behind", "gloo", rank):
        weights, left_out = go_on(rank, file, STEPS // 2, STEPS, whose=rank)
        whole_weights, whole_left_out = torch.load(f"{file}.{rank}.whole")
        assert torch.equal(weights, whole_weights) and all(map(torch.equal, left_out, whole_left_out))


def with_what_is_left(rank, server, file):
    """A rank without its checkpoint, and one with another's, begin at zero; all the same ranks understand one another."""
    with Group(server, f"{file}.lost", "gloo", rank):
        go_on(rank, file, STEPS // 2, STEPS, anew=True, whose=(0, 0, None)[rank])


def test_checkpoints(server):
    """With what was left out of gradients, a training that goes on in other processes is one that was never stopped, bit for bit."""
    file = tempfile.mktemp()
    with environment(WAYS["on the wire"]):
        ranks.run(before_the_pause, RANKS, server, file)
        for work in (behind_the_pause, with_what_is_left):
            ranks.run(work, RANKS, server, file)


def killed_in_backward(rank, server, file):
    try:
        with Group(server, file, "swagg", rank, timeout_s=ranks.PATIENCE_S):
            network, batch = next(networks())
            model = DistributedDataParallel(network)
            generator = torch.Generator().manual_seed(rank)
            model(batch(generator)).sum().backward()
            out = model(batch(generator)).sum()
            if rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            out.backward()
    except RuntimeError as error:
        assert "rank 1" in str(error), error
        return
    raise AssertionError("nobody was missed")


def test_killed_in_backward(_):
    for way in ("", "on the wire"):
        with environment(WAYS[way]):
            ranks.patiently(lambda server: ranks.run(killed_in_backward, RANKS, server, tempfile.mktemp(), killed=(1,)), BUILD)


def many_groups(rank, server, file):
    def held():
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    with Group(server, file, "gloo", rank, size=2):
        before = None
        for i in range(int(os.environ.get("CREATIONS", "60"))):
            group = torch_swagg.ProcessGroupSwagg(dist.PrefixStore(str(i), dist.distributed_c10d._get_default_store()), rank, 2)
            tensor = torch.ones(10)
            group.allreduce([tensor]).wait()
            assert tensor[0] == 2
            del group
            if i == 9:
                before = held()
        ranks.wait_until(lambda: held() <= before, f"{held()} are {before} again")  # a group's thread may end a moment after it


def test_many_groups(server):
    ranks.run(many_groups, 2, server, tempfile.mktemp())


class Leaves(logging.Handler):
    """Leaves a job as soon as somebody says that he asks again for what it has."""

    def __init__(self, job):
        super().__init__()
        self.job = job

    def emit(self, record):
        if "asking again" in record.getMessage():
            self.job.close()


def refused_at_first(rank, server, file, meeting):
    os.environ["TORCHELASTIC_RUN_ID"] = "a run"
    if rank == 0:
        logging.getLogger("swagg").addHandler(Leaves(swagg.Job(switch_ip=server, job="those before", rank=0, size=1)))
    meeting.wait()
    with Group(server, file, "swagg", rank):
        tensor = torch.ones(1)
        dist.all_reduce(tensor)
        assert tensor[0] == RANKS


TRAIN, LIVES = ranks.ROOT / "python/examples/train.py", Path(__file__).parent / "lives.py"


class Torchrun:
    """train.py under torchrun, in lives.py."""

    def __init__(self, server, checkpoint, fate, port, *options):
        self.log = Path(f"{checkpoint}.{port}.{len(options)}.log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--rdzv_backend", "c10d", "--rdzv_endpoint", f"127.0.0.1:{port}",
                 "--monitor_interval", "0.2", "-r", "1", "-t", "1", "--log_dir", f"{checkpoint}.logs", *options, LIVES, fate, TRAIN, "--epochs", "6", "--checkpoint", checkpoint],
                stdout=log, stderr=log, env={**os.environ, "SWAGG_SWITCH": server, "PYTHONPATH": str(ranks.ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"})

    def said(self):
        return self.log.read_text()

    def end(self):
        assert self.process.wait(ranks.PATIENCE_S) == 0, self.said()
        return self.said()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def models(said):
    return re.findall("model ([0-9a-f]+), the same on all ranks", said)


def with_a_killed_worker(server):
    ranks.run(refused_at_first, RANKS, server, tempfile.mktemp(), ranks.meeting(RANKS))
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = (Torchrun(server, f"{folder}/{fate}", fate, free_port(), "--nproc_per_node", str(RANKS), "--max_restarts", "1").end()
                         for fate in ("lives", "killed"))
    assert "life 1 of 3 ranks" not in whole and "life 1 of 3 ranks" in killed, killed
    assert models(whole) and models(whole) == models(killed), (whole, killed)


def test_torchrun(_):
    """A worker is killed in the middle of an epoch: all are started again, join another job, go on, and end with the model of a run that
    nothing has happened to. At a switch that has room for one job."""
    ranks.patiently(with_a_killed_worker, BUILD, jobs=1)


def test_world_grows(server):
    """Another host comes: all workers are started again, and have a job of the new size."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--nnodes", "1:2", "--nproc_per_node", "2", "--rdzv_conf", "last_call_timeout=1")
        port = free_port()
        first = Torchrun(server, f"{folder}/one", "grows", port, *options)
        ranks.wait_until(lambda: "waits for others" in first.said() or first.process.poll() is not None, "there are two ranks")
        second = Torchrun(server, f"{folder}/two", "grows", port, *options)
        said = first.end() + second.end()
    assert "of 2 ranks" in said and "of 4 ranks" in said and len(models(said)) == 1, said


def test_autoload(server):
    """A torch that looks for backends, from 2.5 on, finds this one."""
    code = 'import torch, torch_swagg_autoload; torch_swagg_autoload.autoload(); assert hasattr(torch.distributed.Backend, "SWAGG")'
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(ranks.ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"})


def no_switch(rank, server, file):
    try:
        with Group("", file, "swagg", rank):
            pass
    except ValueError as error:
        assert "Set SWAGG_SWITCH" in str(error), error
        return
    raise AssertionError("there was a switch")


def test_no_switch(server):
    ranks.run(no_switch, RANKS, server, tempfile.mktemp())


if __name__ == "__main__":
    ranks.main(ranks.Server(BUILD).address,
               (test_sums, test_everything_else, test_exchanges, test_on_a_gpu, test_trainings, test_checkpoints, test_killed_in_backward, test_many_groups, test_no_switch, test_autoload, test_torchrun, test_world_grows))
