#!/usr/bin/python3
"""torch_swagg, as programs of PyTorch's see it: torch_group.py BUILD_DIRECTORY. Needs torch (script/test torch installs it).

CREATIONS: how many process groups are made and ended, 60 unless it says more."""
import os
import signal
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ranks

if __name__ == "__main__":
    BUILD = ranks.build_directory()
os.environ.update(OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")
import torch
import torch.distributed as dist
import torch_swagg
from torch.nn.parallel import DistributedDataParallel
from torch_swagg import hooks

RANKS = 3
REDUCE = dist.ReduceOp
DTYPES = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = DTYPES[:5]


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
    with Group(server, file, "swagg", rank):
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
    with Group(server, file, "swagg", rank):
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


def train(network, batch, rank, hook=None, steps=5, uneven=False):
    model = DistributedDataParallel(network, bucket_cap_mb=0.01)  # several buckets
    state = hooks.SwaggState(compress_least=64)
    if hook is not None:
        model.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
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
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def trainings(rank, server, file):
    """With each backend and hook; swagg's twice. Kept by rank 0 in FILE.way."""
    for way in ("gloo", "swagg", "swagg again", "swagg_hook", "fp16_hook", "int32_hook", "thc_hook", "uneven gloo", "uneven swagg"):
        hook = getattr(hooks, way, None)
        backend = "swagg" if way.split()[-1] in ("swagg", "again") else "gloo"
        with Group(server, f"{file}.store.{way}", backend, rank):
            weights = torch.cat([train(network, batch, rank, hook, uneven="uneven" in way) for network, batch in networks()])
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
    for way, near in (("swagg", 1e-5), ("swagg_hook", 1e-5), ("int32_hook", 1e-4), ("fp16_hook", 1e-2), ("thc_hook", 0.3)):
        off = (got[way] - got["gloo"]).norm() / got["gloo"].norm()
        assert off < near and (way != "thc_hook" or off > 0), (way, off)
    assert torch.allclose(got["uneven swagg"], got["uneven gloo"], atol=1e-5)


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


def test_killed_in_backward(server):
    ranks.run(killed_in_backward, RANKS, server, tempfile.mktemp(), killed=(1,))


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
        assert held() <= before, (before, held())


def test_many_groups(server):
    ranks.run(many_groups, 2, server, tempfile.mktemp())


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
    ranks.main(ranks.Server(BUILD, "timers: {lost_after_ms: 1000}").address,
               (test_sums, test_everything_else, test_trainings, test_killed_in_backward, test_many_groups, test_no_switch))
