"""libswagg.so by ctypes: what swagg.h declares, as far as this package calls it.

The library is looked for where SWAGG_LIBRARY says, else where the linker finds it."""
import ctypes
import os

SONAME = "libswagg.so.0"

LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)


class Word(ctypes.Structure):
    """struct swagg_word"""

    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Segment(ctypes.Structure):
    """struct swagg_segment"""

    _fields_ = [("send", ctypes.c_void_p), ("recv", ctypes.c_void_p), ("count", ctypes.c_size_t)]


class Post(ctypes.Structure):
    """struct swagg_post"""

    _fields_ = [("struct_size", ctypes.c_size_t), ("timeout_ms", ctypes.c_int), ("name", ctypes.c_uint64),
                ("left_out", ctypes.c_void_p), ("round", ctypes.c_uint64), ("ready", ctypes.c_void_p)]


class Stats(ctypes.Structure):
    """struct swagg_stats"""

    _fields_ = [("struct_size", ctypes.c_size_t)] + \
        [(name, ctypes.c_uint64) for name in (
            "calls", "elements", "bytes", "packets_sent", "packets_received", "retransmitted", "probes", "timeouts",
            "duplicates", "bad_packets", "damaged_packets", "rtt_us", "rto_us")] + \
        [(name, ctypes.c_uint32) for name in ("window", "slots", "elements_per_packet", "resumed")] + \
        [(name, ctypes.c_uint64) for name in (
            "call_ns", "waited_ns", "unproven_messages", "compressed_calls", "compressed_elements")] + \
        [(name, ctypes.c_double) for name in ("compression_error2", "compression_sum2")] + \
        [(name, ctypes.c_uint64) for name in (
            "feedback_bytes", "feedback_forgotten", "missed_calls", "missed_elements", "partial_calls", "left_out_elements")]


def exact(kind):
    """The type as an argument that takes no other number than the one that was said: ctypes takes the low bits of one that is too large."""
    class Exact(kind):
        @classmethod
        def from_param(cls, value):
            taken = kind(value)
            if taken.value != value:
                raise OverflowError(f"{value} does not fit into {8 * ctypes.sizeof(kind)} bits")
            return taken
    return Exact


def load():
    path = os.environ.get("SWAGG_LIBRARY") or SONAME
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{error}: install libswagg, or name its file in SWAGG_LIBRARY") from None
    job, size, pointer, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
    request = ctypes.POINTER(ctypes.c_void_p)
    numbers = {kind: exact(kind) for kind in (size, number, ctypes.c_uint64)}
    for name, result, arguments in (
            ("swagg_open_words", number, (ctypes.POINTER(job), ctypes.POINTER(Word), size, LOG, pointer)),
            ("swagg_allreduce", number, (job, pointer, pointer, size, number, number)),
            ("swagg_allreducev", number, (job, ctypes.POINTER(Segment), size, number, number)),
            ("swagg_reduce", number, (job, pointer, pointer, size, number, number, number)),
            ("swagg_post_allreduce", number, (job, pointer, pointer, size, number, number, ctypes.POINTER(Post), request)),
            ("swagg_post_allreducev", number, (job, ctypes.POINTER(Segment), size, number, number, ctypes.POINTER(Post), request)),
            ("swagg_post_reduce", number, (job, pointer, pointer, size, number, number, number, ctypes.POINTER(Post), request)),
            ("swagg_post_broadcast", number, (job, pointer, size, number, ctypes.POINTER(Post), request)),
            ("swagg_post_allgather", number, (job, pointer, pointer, size, ctypes.POINTER(Post), request)),
            ("swagg_post_reduce_scatter_block", number, (job, pointer, pointer, size, number, number, ctypes.POINTER(Post), request)),
            ("swagg_post_barrier", number, (job, ctypes.POINTER(Post), request)),
            ("swagg_broadcast", number, (job, pointer, size, number)),
            ("swagg_allgather", number, (job, pointer, pointer, size)),
            ("swagg_gather", number, (job, pointer, pointer, size, number)),
            ("swagg_scatter", number, (job, pointer, pointer, size, number)),
            ("swagg_reduce_scatter_block", number, (job, pointer, pointer, size, number, number)),
            ("swagg_barrier", number, (job,)),
            ("swagg_has_exchanges", number, (job,)),
            ("swagg_reaches_gpus", number, (job,)),
            ("swagg_wait", number, (request,)),
            ("swagg_name_tensor", number, (job, ctypes.c_uint64)),
            ("swagg_abort", None, (job, ctypes.c_char_p)),
            ("swagg_close", None, (job,)),
            ("swagg_option_of_variable", ctypes.c_char_p, (ctypes.c_char_p,)),
            ("swagg_element_size", size, (number, number)),
            ("swagg_get_stats", number, (job, ctypes.POINTER(Stats))),
            ("swagg_get_waits", number, (job, ctypes.POINTER(ctypes.c_uint64), number)),
            ("swagg_version", ctypes.c_char_p, ()),
            ("swagg_strerror", ctypes.c_char_p, (number,)),
            ("swagg_last_error", ctypes.c_char_p, ())):
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}: it is older than this package")
        function.restype = result
        function.argtypes = [numbers.get(argument, argument) for argument in arguments]
    return library
