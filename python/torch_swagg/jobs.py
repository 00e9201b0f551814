"""Jobs of torch's ranks: one finds out what it is to be, and tells the others by their store."""
from __future__ import annotations

import json
import logging
import os
import secrets
import time
from datetime import timedelta
from typing import Any, Callable, Iterable

from swagg import Error, Job, Status, option_of_variable

# Variables of this package, and of libswagg-mpi.so.
OTHERS = {"SWAGG_" + name for name in ("LIBRARY", "KERNELS", "LOG", "MIN_BYTES", "COMPRESSION_MIN_BYTES", "FALLBACK", "DISABLE", "SUMMARY_JSON", "CHOICES")}
# What the ranks agree on themselves.
AGREED = {"SWAGG_JOB", "SWAGG_RANK", "SWAGG_SIZE"}
OWN = ("key_file",)  # of each rank
WHERE = ("switch_ip", "server_ip")
MOST_MS = 2**31 - 1
# How long torchrun's workers ask a switch that refuses them: those that they replace may have its room until it has missed them.
REFUSED_S, AGAIN_S = 60, 0.5
_log = logging.getLogger("swagg")


def milliseconds(timeout: timedelta) -> int:
    """As an option has it."""
    return min(int(timeout.total_seconds() * 1000), MOST_MS)


def options_of_environment() -> dict[str, str]:
    """SWAGG_MODE=arrival is {"mode": "arrival"}; an empty one is none. What stands for no option is one that libswagg does not know, and says so."""
    said = {name: value for name, value in os.environ.items() if name.startswith("SWAGG_") and value and name not in OTHERS | AGREED}
    return {option_of_variable(name) or name[len("SWAGG_"):].lower(): value for name, value in said.items()}


def _join(options: dict[str, Any]) -> Job:
    end = time.monotonic() + (REFUSED_S if "TORCHELASTIC_RUN_ID" in os.environ else 0)
    while True:
        try:
            return Job(**options)
        except Error as error:
            if error.status != Status.REFUSED or time.monotonic() >= end:
                raise
            _log.warning("%s; asking again, for the workers that were here before may not be missed yet", error)
            time.sleep(AGAIN_S)


def open_job(told: Callable[[str], Iterable[str]], rank: int, size: int, **options: Any) -> Job:
    """told: hands a text to the other ranks, and gives all ranks' texts in the order of ranks, of which no more are asked for than
    are needed. Rank 0's options count for all; if it does not know where the switch is, the first rank that does says so: after a
    restart any host may have rank 0."""
    own = {**options_of_environment(), **{name: value for name, value in options.items() if value is not None}}
    shared = {name: str(value) for name, value in own.items() if name not in OWN and (rank == 0 or name in WHERE)}
    said: dict[str, str] = {}
    for text in told(json.dumps({"job": f"torch-{secrets.token_hex(8)}", **shared})):
        said = {**json.loads(text), **said}
        if any(name in said for name in WHERE):
            return _join({**said, **{name: own.get(name) for name in OWN}, "rank": rank, "size": size})
    raise ValueError("where is the switch? Set SWAGG_SWITCH to its IPv4 address, on one rank at least")  # all ranks see that
