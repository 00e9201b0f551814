"""Reduces numpy arrays of every dtype with every operation of MPI's, and tells a digest of each result, or the refusal:
the same with the shim as without. Floats are small integers, and products of few of them, so that the order does not count.
Run with python3 -m mpi4py, so that a rank that fails ends all."""
import hashlib

import numpy
from mpi4py import MPI

OPS = {"SUM": MPI.SUM, "PROD": MPI.PROD, "MIN": MPI.MIN, "MAX": MPI.MAX, "LAND": MPI.LAND, "LOR": MPI.LOR, "LXOR": MPI.LXOR,
       "BAND": MPI.BAND, "BOR": MPI.BOR, "BXOR": MPI.BXOR, "MINLOC": MPI.MINLOC, "MAXLOC": MPI.MAXLOC}
PAIRS = {"FLOAT_INT": ("f4", "i4"), "DOUBLE_INT": ("f8", "i4"), "LONG_INT": ("i8", "i4"), "SHORT_INT": ("i2", "i4"), "INT_INT": ("i4", "i4")}
LENGTHS = (3, 5000)

world = MPI.COMM_WORLD
rank = world.Get_rank()


def numbers(n):
    return (numpy.arange(n) * 7 + rank * 13) % 5 - 2


def tell(what, result):
    if rank == 0:
        print("arrays:", what, result)


def reduce(what, send, kind, op):
    """kind: MPI's type for the array, where mpi4py does not know it."""
    def buffer(array):
        return [array, *kind] if kind else array

    recv, total = numpy.zeros_like(send), send.copy()
    try:
        world.Allreduce(buffer(send), buffer(recv), op)
        world.Reduce(MPI.IN_PLACE if rank == 1 else buffer(send), buffer(total) if rank == 1 else None, op, root=1)
        same = rank != 1 or total.tolist() == recv.tolist()
        if recv.dtype.kind in "fc":
            recv += 0  # which of two zeros it is depends on the order
        tell(what, hashlib.sha256(repr(recv.tolist()).encode()).hexdigest()[:16])
        assert same, what
    except MPI.Exception as refusal:
        tell(what, refusal.Get_error_string())


def arrays(code, name, op):
    for n in LENGTHS:
        values = numbers(n)
        if name.startswith("L"):
            values = values % 2
        reduce(f"{numpy.dtype(code)} {name} {n}", values.astype(code), [], op)


def pairs(name, fields, op_name, op):
    dtype = numpy.dtype([("value", fields[0]), ("index", fields[1])], align=True)
    for n in LENGTHS:
        send = numpy.zeros(n, dtype)
        send["value"] = numbers(n)
        send["index"] = (numpy.arange(n) * 3 + rank * 5) % 11
        reduce(f"{name} {op_name} {n}", send, [n, getattr(MPI, name)], op)


for op_name, op in OPS.items():
    for code in numpy.typecodes["AllInteger"] + numpy.typecodes["AllFloat"] + "?":
        if code != "e":  # half precision: mpi4py has no type of MPI's for it
            arrays(code, op_name, op)
    for pair, fields in PAIRS.items():
        pairs(pair, fields, op_name, op)
