"""Collectives of numpy arrays: of any shape, in the host's byte order. One that is not contiguous is copied."""
from __future__ import annotations

import ctypes
import functools
from concurrent.futures import Future
from typing import Optional, Sequence, Union

import numpy as np

from ._job import Job, Op, Type, element_size

_TYPES = {np.dtype(kind): Type[name] for kind, name in (
    ("i1", "INT8"), ("i2", "INT16"), ("i4", "INT32"), ("i8", "INT64"), ("u1", "UINT8"), ("u2", "UINT16"), ("u4", "UINT32"),
    ("u8", "UINT64"), ("f2", "FLOAT16"), ("f4", "FLOAT32"), ("f8", "FLOAT64"), ("?", "BOOL"), ("c8", "COMPLEX64"), ("c16", "COMPLEX128"))}


def _op(op: Union[Op, str]) -> Op:
    if isinstance(op, Op):
        return op
    try:
        return Op[op.upper()]
    except (AttributeError, KeyError):
        raise ValueError(f"there is no operation {op!r}: use one of {', '.join(o.name.lower() for o in Op)}") from None


@functools.lru_cache(maxsize=None, typed=True)
def _kind(dtype: np.dtype, op: Union[Op, str]) -> tuple[Type, Op]:
    op, type = _op(op), _TYPES.get(dtype)
    if type is None:
        raise TypeError(f"arrays of {dtype} cannot be summed: use one of {', '.join(str(d) for d in _TYPES)}")
    if element_size(type, op) == 0:
        raise TypeError(f"{dtype} has no {op.name.lower()}")
    return type, op


def _address(array: np.ndarray) -> int:
    """Of a contiguous one. numpy's own word for it takes four times as long, but knows it of read-only and of empty arrays, too, and of dates."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):
        return array.ctypes.data


def _result(array: np.ndarray, out: Optional[np.ndarray]) -> np.ndarray:
    if out is None:
        return np.empty(array.shape, array.dtype)
    flags = out.flags
    if out.dtype != array.dtype or out.shape != array.shape or not flags.c_contiguous or not flags.writeable:
        raise ValueError(f"out must be a writable contiguous array of {array.dtype} and shape {array.shape}")
    return out


def _movable(array: np.ndarray) -> np.ndarray:
    if array.dtype.hasobject:
        raise TypeError(f"arrays of {array.dtype} cannot be sent")
    return array


def _in_place(array: np.ndarray, what: str) -> np.ndarray:
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"{what} must be a writable contiguous array")
    return _movable(array)


def _sent(array) -> np.ndarray:
    return _movable(np.asarray(array, order="C"))


def allreduce(job: Job, array, op: Union[Op, str] = "sum", out: Optional[np.ndarray] = None) -> np.ndarray:
    """op over all ranks' arrays, in a new array or in out, which may be the array itself."""
    array = np.asarray(array, order="C")
    (type, op), out = _kind(array.dtype, op), _result(array, out)
    job.allreduce(_address(array), _address(out), array.size, type, op)
    return out


def post_allreduce(job: Job, array, op: Union[Op, str] = "sum", out: Optional[np.ndarray] = None) -> "Future[np.ndarray]":
    """allreduce that goes on while the program does something else, together with others that were posted. The array and out are in use
    until the future is done."""
    array = np.asarray(array, order="C")
    (type, op), out = _kind(array.dtype, op), _result(array, out)
    return job.post_allreduce(_address(array), _address(out), array.size, type, op, then=lambda: (array, out)[1])


def allreduce_many(job: Job, arrays: Sequence, op: Union[Op, str] = "sum") -> list[np.ndarray]:
    """allreduce of several arrays of one type in one stream: small ones share packets, and none waits for the one before it."""
    op = _op(op)
    arrays = [np.asarray(a, order="C") for a in arrays]
    if len({a.dtype for a in arrays}) > 1:
        raise TypeError(f"arrays of one call have one type; these have {', '.join(sorted({str(a.dtype) for a in arrays}))}")
    results = [_result(a, None) for a in arrays]
    if arrays:
        job.allreduce_many([(_address(a), _address(r), a.size) for a, r in zip(arrays, results)], *_kind(arrays[0].dtype, op))
    return results


def reduce(job: Job, array, op: Union[Op, str] = "sum", root: int = 0) -> Optional[np.ndarray]:
    """As allreduce, but only the root gets the result; the others get None."""
    array = np.asarray(array, order="C")
    (type, op), out = _kind(array.dtype, op), _result(array, None) if job.rank == root else None
    job.reduce(_address(array), None if out is None else _address(out), array.size, type, op, root)
    return out


def broadcast(job: Job, array: np.ndarray, root: int = 0) -> np.ndarray:
    """Every rank's array becomes the root's, in place."""
    job.broadcast(_address(_in_place(array, "what is broadcast")), array.nbytes, root)
    return array


def allgather(job: Job, array) -> np.ndarray:
    """The ranks' arrays, of one shape, one behind the other in a new first dimension."""
    array = _sent(array)
    out = np.empty((job.size, *array.shape), array.dtype)
    job.allgather(_address(array), _address(out), array.nbytes)
    return out


def gather(job: Job, array, root: int = 0) -> Optional[np.ndarray]:
    """As allgather, but only the root gets the arrays; the others get None."""
    array = _sent(array)
    out = np.empty((job.size, *array.shape), array.dtype) if job.rank == root else None
    job.gather(_address(array), None if out is None else _address(out), array.nbytes, root)
    return out


def scatter(job: Job, array, out: np.ndarray, root: int = 0) -> np.ndarray:
    """out becomes this rank's part of the root's array, whose first dimension is that of the ranks; the others' is ignored."""
    send = _sent(array) if job.rank == root else None
    if send is not None and (send.dtype != out.dtype or send.shape != (job.size, *out.shape)):
        raise ValueError(f"the root's array must be of {out.dtype} and shape {(job.size, *out.shape)}")
    job.scatter(None if send is None else _address(send), _address(_in_place(out, "out")), out.nbytes, root)
    return out


def reduce_scatter(job: Job, array, op: Union[Op, str] = "sum") -> np.ndarray:
    """This rank's part of what allreduce gives, whose first dimension is divided among the ranks."""
    array = np.asarray(array, order="C")
    type, op = _kind(array.dtype, op)
    if array.shape[0] % job.size:
        raise ValueError(f"{array.shape[0]} rows cannot be divided among {job.size} ranks")
    out = np.empty((array.shape[0] // job.size, *array.shape[1:]), array.dtype)
    job.reduce_scatter(_address(array), _address(out), out.size, type, op)
    return out
