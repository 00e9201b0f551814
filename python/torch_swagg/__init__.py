"""swagg as a backend of torch.distributed: collectives go through a swagg switch, which sums.

    import torch_swagg
    torch.distributed.init_process_group("swagg")

The environment says where the switch is (SWAGG_SWITCH, on one rank at least), and what else a job is to have, by the names of
docs/libswagg.md: SWAGG_MODE=arrival, SWAGG_KEY_FILE=... torch_swagg.hooks has communication hooks for DistributedDataParallel over
any backend.
"""
import inspect

import torch.distributed as dist

from .group import ProcessGroupSwagg

__all__ = ["ProcessGroupSwagg", "register"]


def register() -> None:
    """Makes "swagg" a backend. Importing this module does it."""
    if hasattr(dist.Backend, "SWAGG"):
        return
    more = {"devices": ["cpu", "cuda"]} if "devices" in inspect.signature(dist.Backend.register_backend).parameters else {}
    dist.Backend.register_backend("swagg", ProcessGroupSwagg, **more)


register()
