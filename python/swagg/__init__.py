"""Sums over the ranks of a job, taken in a swagg switch.

    import numpy, swagg
    with swagg.Job(switch_ip="10.0.0.254", job="train-1", rank=0, size=4) as job:
        mean = swagg.allreduce(job, gradients, "avg")

Every rank makes the same calls in the same order. A call returns the exact result or raises swagg.Error, by its deadline at the
latest. Where numpy is missing, Job's own calls, which take addresses, are there all the same.
"""
from ._job import Error, Job, Op, Status, Type, element_size, option_of_variable, version

__all__ = ["Error", "Job", "Op", "Status", "Type", "element_size", "option_of_variable", "version", "allreduce", "allreduce_many", "reduce",
           "post_allreduce", "broadcast", "allgather", "gather", "scatter", "reduce_scatter"]


def __getattr__(name):
    """Functions on arrays, where there is numpy."""
    if name in __all__:
        from . import _arrays
        globals()[name] = getattr(_arrays, name)
        return globals()[name]
    raise AttributeError(f"module 'swagg' has no attribute '{name}'")
