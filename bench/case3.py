"""MPI_Reduce over TCP, summed on its way by swagg-mpi-proxy: what case3.sh measured."""
from functools import partial

import records
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars

MEASURES = ("mpi-proxy", "lib/core/kernels", "lib/core/mpitcp", "lib/core/wire")  # rooms.py

WAYS = {"linear": "linear reduce", "linear_proxy": "linear reduce, with the proxy", "pipeline": "Open MPI's pipeline, segments of 32 KiB",
        "chosen": "Open MPI's own choice", "sends": "`MPI_Send` to the root and back", "sends_proxy": "`MPI_Send` to the root and back, with the proxy"}
SIZES = {"256k": (256 << 10, "256 KiB"), "1m": (1 << 20, "1 MiB"), "10m": (10 << 20, "10 MiB")}

READING = """
Case 3 of "An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning" (figure 13): four hosts in network namespaces, one rank of unmodified Debian's Open MPI 4.1 on
each, links of 200 Mbit/s both ways, MTU 1500, segmentation offloads off; the box between them is a router, in whose namespace [`swagg-mpi-proxy`](../mpi-tcp.md) runs (`--others=kept`). All share
this machine's CPUs. `bench-case3` has every call give rank 0 the sum of all ranks' floats, by `MPI_Reduce`, or as the paper's programs do: all send theirs to rank 0,
which adds them and sends each the sum. Linear reduces and the pipeline are what `coll_tuned_reduce_algorithm` says, 1 and 3; Open MPI's own choice is that of its tables. A call's time is
the slowest rank's from a barrier on, in the median of a run's calls: 20 of 256 KiB, 10 of 1 MiB, 3 of 10 MiB, and one before them that does not count. Bytes are those of whole frames that the limit of the
root's link has let through to it, over all calls, with Open MPI's own while the program begins and ends, by the calls. Every sum is compared with what must come out.
All ways take turns in each run, and a ratio is taken within each run. Without the proxy the same frames go through the kernel's router in the same namespace.
"""


def faster(size, way, words, first_screen=False):
    return Figure(f"case3_{size}_vs_{way}", f"Linear reduces of {SIZES[size][1]} with the proxy are {{:.2f}} times as fast as {words}.", first_screen=first_screen)


FIGURES = (
    Figure("case3_bytes_into_root", "Of a linear reduce of 10 MiB by four ranks over TCP, {:.2f} times the bytes come into the root's port with the proxy as without."),
    *(faster(size, "linear", "those without", size == "10m") for size in SIZES),
    *(faster(size, "pipeline", "Open MPI's pipeline", size == "10m") for size in SIZES),
    *(faster(size, "chosen", "Open MPI's own choice") for size in SIZES),
    *(Figure(f"case3_{size}_sends", f"Sums of {SIZES[size][1]} by `MPI_Send` to the root and back are {{:.2f}} times as fast with the proxy as without.", first_screen=size == "10m")
      for size in SIZES),
)


def column(directory, size, way, what):
    """Of each run."""
    rows = [row for (_, name, bytes_), group in records.mpi_perf(directory).items() if (name, bytes_) == (way, SIZES[size][0]) for row in group]
    if not rows:
        raise LookupError(f"no {way} of {size}")
    return [row[what] for row in rows]


def ways(directory):
    def ratio(size, over, under, what="median_us"):
        return records.ratios(column(directory, size, over, what), column(directory, size, under, what))

    return {"case3_bytes_into_root": partial(ratio, "10m", "linear_proxy", "linear", "into_root"),
            **{f"case3_{size}_vs_{way}": partial(ratio, size, way, "linear_proxy") for size in SIZES for way in ("linear", "pipeline", "chosen")},
            **{f"case3_{size}_sends": partial(ratio, size, "sends", "sends_proxy") for size in SIZES}}


def collect(directory):
    return {"ways": [{"bytes": SIZES[size][0], "way": way, "ms": [us / 1e3 for us in column(directory, size, way, "median_us")],
                      "into_root": [carried / SIZES[size][0] for carried in column(directory, size, way, "into_root")]} for size in SIZES for way in WAYS]}


def answer(data):
    value = {figure.name: figure.sample(data).median for figure in FIGURES}
    return (f"With the proxy {value['case3_bytes_into_root']:.2f} times the bytes come into the root's port, and linear reduces of 256 KiB, 1 MiB and 10 MiB are "
            f"{value['case3_256k_vs_linear']:.2f}, {value['case3_1m_vs_linear']:.2f} and {value['case3_10m_vs_linear']:.2f} times as fast as without. Beside Open MPI's pipeline, by which each host "
            f"receives a tensor's bytes once, they are {value['case3_256k_vs_pipeline']:.2f}, {value['case3_1m_vs_pipeline']:.2f} and {value['case3_10m_vs_pipeline']:.2f} times as fast.")


def way_table(data):
    labels = dict(SIZES.values())
    return table(("tensor", "way", "time (ms), median (extremes)", "bytes into the root, by the tensor's"),
                 [(labels[row["bytes"]], WAYS[row["way"]], Sample(row["ms"]).spread(1), Sample(row["into_root"]).spread(2)) for row in data["ways"]], "llrr")


def pages(data):
    return {"case3": "\n\n".join([answer(data), "![Times of calls by which the root gets the sum](case3.svg)", figure_table(FIGURES, data), way_table(data),
                                  "## How it is measured", READING.strip()])}


def plots(data):
    def rows(bytes_):
        return [(WAYS[row["way"]].replace("`", ""), Sample(row["ms"]), "ours" if "proxy" in row["way"] else "peer") for row in data["ways"] if row["bytes"] == bytes_]

    return {"case3": bars("Calls by which the root gets the sum of four ranks' floats, links of 200 Mbit/s",
                          [Panel(f"{label}", "ms: less is better", rows=rows(bytes_), digits=0) for bytes_, label in SIZES.values()])}
