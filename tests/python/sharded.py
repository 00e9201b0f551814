"""FullyShardedDataParallel of torch 1.13, on CPUs. It wants Python 3.10, which took any default of a dataclass, and GPUs, of which it asks for
streams: what is done by one after another is done in this order on a CPU anyway."""
import contextlib
import dataclasses
from unittest import mock

import torch

_dataclass = dataclasses.dataclass


def _with_hash(cls=None, **how):
    """Of a default Python 3.11 wants a hash."""
    return _dataclass(cls, **{"unsafe_hash": "__hash__" not in vars(cls), **how}) if cls else lambda cls: _with_hash(cls, **how)


with mock.patch("dataclasses.dataclass", _with_hash):
    from torch.distributed.fsdp import FullyShardedDataParallel


@contextlib.contextmanager
def on_cpus():
    with contextlib.ExitStack() as patches:
        for name in ("Stream", "Event", "current_stream", "synchronize"):
            patches.enter_context(mock.patch.object(torch.cuda, name))
        patches.enter_context(mock.patch.object(torch.cuda, "stream", contextlib.nullcontext))
        patches.enter_context(mock.patch.object(torch.cuda, "is_available", lambda: True))
        patches.enter_context(mock.patch.object(torch.Tensor, "record_stream", lambda *_: None))
        patches.enter_context(mock.patch.object(FullyShardedDataParallel, "_get_compute_device", lambda *_: torch.device("cpu")))
        yield
