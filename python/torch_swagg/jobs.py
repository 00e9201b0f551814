"""Jobs of torch's ranks: one finds out what it is to be, and tells the others by their store."""
from __future__ import annotations

import json
import os
import secrets
from datetime import timedelta
from typing import Any, Callable

from swagg import Job

# Options that have a shorter name in the environment (docs/mpi.md).
SHORTER = {"switch": "switch_ip", "server": "server_ip", "compression_bits": "thc_bits"}
# Of this package, and of libswagg-mpi.so.
OTHERS = {"library", "kernels", "log", "min_bytes", "compression_min_bytes", "fallback", "disable", "summary_json", "report"}
# What the ranks agree on themselves.
AGREED = {"job", "rank", "size"}
OWN = ("key_file",)  # of each rank
MOST_MS = 2**31 - 1


def milliseconds(timeout: timedelta) -> int:
    """As an option has it."""
    return min(int(timeout.total_seconds() * 1000), MOST_MS)


def options_of_environment() -> dict[str, str]:
    """SWAGG_MODE=arrival is {"mode": "arrival"}; an empty one is none."""
    names = {name[len("SWAGG_"):].lower(): value for name, value in os.environ.items() if name.startswith("SWAGG_") and value}
    return {SHORTER.get(name, name): value for name, value in names.items() if name not in OTHERS | AGREED}


def open_job(exchange: Callable[[Any], Any], rank: int, size: int, **options: Any) -> Job:
    """exchange: gives all ranks what rank 0 hands to it. Rank 0's options count for all."""
    own = {**options_of_environment(), **{name: value for name, value in options.items() if value is not None}}
    said = None
    if rank == 0:
        said = json.dumps({"job": f"torch-{secrets.token_hex(8)}", **{name: str(value) for name, value in own.items() if name not in OWN}})
    said = json.loads(exchange(said))
    if "switch_ip" not in said and "server_ip" not in said:  # all ranks see that
        raise ValueError("where is the switch? Set SWAGG_SWITCH to its IPv4 address, on rank 0 at least")
    return Job(**said, **{name: own.get(name) for name in OWN}, rank=rank, size=size)
