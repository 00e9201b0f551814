"""How fast MPI_Reduce is by size: what reduce.sh measured."""
from functools import partial

import records
import rooms
from best import size_name
from figures import Figure, Sample, table
from plot import Panel, lines

MEASURES = rooms.MPI  # rooms.py

VARIANTS = ("complete", "buffered")
TIMINGS = {
    "mean": "Time in the call, mean of ranks and calls, a barrier before each call: what `osu_reduce` prints",
    "loop": "Calls one after the other without a barrier: time of the loop on its slowest rank, by calls",
}
SIZES = (8, 32, 128, 512, 2048)  # KiB

READING = """
Four hosts, one rank each, float, root 0, links of 200 Mbit/s, MTU 1500, segmentation offloads off; the baseline is native Open
MPI 4.1 over a Linux bridge between the same hosts, with the same limits. All variants take turns in every run; a ratio is taken
within each run, and its median over the runs is shown with its extremes: more is better for swagg.

The two tables answer different questions. In `osu_reduce`'s mean three of four times are those of ranks that are not the root.
Open MPI's ranks leave a reduce of up to 64 KiB or so as soon as TCP has their part, before the root has a sum. Ours, by default, leave
when the sum is complete, and so the mean may be slower although the slowest rank is not. With `SWAGG_REDUCE=buffered` they leave when their
part is copied: up to about 1.5 MB at once, and the rest of a larger one when the buffer has room. In the loop a root
gets its sums no earlier than its own contributions have left. What `buffered` gives up
for it: [correctness.md](../correctness.md#buffered-reduces). It is not the default.
"""

def says(timing, variant, kib):
    what = f"{'Buffered' if variant == 'buffered' else 'By default'}, a reduce of {size_name(kib << 10)} "
    where = "in a loop, for the slowest rank," if timing == "loop" else "in the mean of all ranks, as `osu_reduce` prints it,"
    return what + where + " is {:.2f} times as fast as Open MPI's."


FIGURES = tuple(Figure(f"reduce_{timing}_{variant}_{kib}k_vs_openmpi", says(timing, variant, kib), first_screen=kib == 512 and (timing, variant) != ("loop", "buffered"))
                for timing in TIMINGS for variant in VARIANTS for kib in SIZES)


def milliseconds(directory):
    return {key: [row["median_us"] / 1e3 for row in group] for key, group in records.mpi_perf(directory).items()}


def ways(directory):
    ms = milliseconds(directory)

    def ratio(variant, timing, size):
        return records.ratios(ms["openmpi", timing, size], ms[variant, timing, size])

    return {f"reduce_{timing}_{variant}_{size >> 10}k_vs_openmpi": partial(ratio, variant, timing, size)
            for variant, timing, size in ms if variant != "openmpi"}


def collect(directory):
    ms = milliseconds(directory)
    return {"times": [{"timing": timing, "variant": variant, "kib": size >> 10, "ms": taken} for (variant, timing, size), taken in ms.items()]}


def ratio(data, timing, variant, kib):
    return Sample(data["figures"][f"reduce_{timing}_{variant}_{kib}k_vs_openmpi"])


def sizes(data):
    return sorted({row["kib"] for row in data["times"]})


def size_table(data, timing):
    ms = {(row["variant"], row["kib"]): Sample(row["ms"]).median for row in data["times"] if row["timing"] == timing}
    rows = [(size_name(kib << 10), *(f"{ms[variant, kib]:.2f}" for variant in ("openmpi", *VARIANTS)),
             *(ratio(data, timing, variant, kib).spread() for variant in VARIANTS)) for kib in sizes(data)]
    head = ("tensor", "Open MPI (ms)", "swagg (ms)", "swagg, buffered (ms)", "speed, by Open MPI's", "buffered, by Open MPI's")
    return table(head, rows)


def answer(data):
    def span(timing, variant):
        found = [ratio(data, timing, variant, kib).median for kib in sizes(data)]
        return f"{min(found):.2f} to {max(found):.2f} times"

    return (f"From {size_name(sizes(data)[0] << 10)} to {size_name(sizes(data)[-1] << 10)}, calls in a loop are {span('loop', 'complete')} as fast as "
            f"Open MPI's, {span('loop', 'buffered')} with `SWAGG_REDUCE=buffered`. In the mean of all ranks, with a barrier before each "
            f"call, they are {span('mean', 'complete')} as fast, buffered {span('mean', 'buffered')}: ranks that are not the root wait "
            f"for the sum unless reduces are buffered.")


def pages(data):
    tables = [part for timing, words in TIMINGS.items() for part in (words + ":", size_table(data, timing))]
    return {"reduce": "\n\n".join([answer(data), "![Speed of reduces by size](reduce.svg)", *tables,
                                   "## How it is measured", READING.strip()])}


def plots(data):
    ticks = [(kib, size_name(kib << 10)) for kib in sizes(data)]
    panels = []
    for timing, heading in (("mean", "Mean of the ranks, a barrier before each call"), ("loop", "Calls in a loop")):
        series = [(name, kind, [(kib * shift, ratio(data, timing, variant, kib)) for kib in sizes(data)])
                  for variant, name, kind, shift in (("complete", "swagg", "ours", 0.95), ("buffered", "swagg, buffered", "second", 1.05))]
        panels.append(Panel(heading, "speed by Open MPI's: more is better", series=series, x_ticks=ticks, x_unit="tensor", log=True,
                            marks=[(1, "Open MPI")]))
    return {"reduce": lines("Speed of reduces by size", panels)}
