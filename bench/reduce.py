#!/usr/bin/env python3
"""Makes figures of what reduce.sh measured: reduce.py RECORDS RESULTS.md [FIGURES.json]"""
import glob
import json
import os
import statistics
import sys

import report

VARIANTS = ("complete", "buffered")
TIMINGS = {
    "mean": "Time in the call, mean of ranks and calls, a barrier before each call: what `osu_reduce` prints",
    "loop": "Calls one after the other without a barrier: time of the loop on its slowest rank, by calls",
}

READING = """
Four hosts, one rank each, float, root 0, links of 200 Mbit/s, MTU 1500, segmentation offloads off; the baseline is native Open
MPI 4.1 over a Linux bridge between the same hosts, with the same limits. All variants take turns in every run; a ratio is taken
within each run, and its median over the runs is shown with its extremes: more is better for swagg.

The two tables answer different questions. In `osu_reduce`'s mean three of four times are those of ranks that are not the root.
Open MPI's leave a reduce of up to 64 KiB or so as soon as TCP has their part, before the root has a sum; ours, by default, when the sum is
complete, and so the mean is slower although the slowest rank is not. With `SWAGG_REDUCE=buffered` they leave when their part is copied,
up to about 1.5 MB at once, and the rest of a larger one when the buffer has room. In the loop it is the link that counts: a root gets its
sums no earlier than its own contributions have left, and ranks that are ahead hardly change that. What
`buffered` trades for it: [correctness.md](correctness.md#buffered-reduces). It is not the default.
"""


def load(directory):
    """{(timing, variant, bytes): [seconds, one a run]}"""
    times = {}
    for path in sorted(glob.glob(os.path.join(directory, "*,*.json"))):
        _, variant, timing = os.path.basename(path)[:-len(".json")].split(",")
        with open(path) as f:
            rows = json.load(f)
        for row in rows:
            if row["wrong"]:
                sys.exit(f"{path}: {row['wrong']} wrong sums")
            times.setdefault((timing, variant, row["bytes"]), []).append(row["median_us"] / 1e6)
    return times


def ratios(times, timing, variant, size):
    return [a / b for a, b in zip(times[timing, "openmpi", size], times[timing, variant, size])]


def figures(times, sizes):
    """{name: ([value, one a run], aim)}"""
    return {f"reduce_{timing}_{variant}_{size >> 10}k_vs_openmpi": (ratios(times, timing, variant, size), "")
            for timing in TIMINGS for variant in VARIANTS for size in sizes}


def size_table(times, timing, sizes):
    lines = []
    for size in sizes:
        cells = [f"{size >> 10} KiB"]
        for variant in ("openmpi", *VARIANTS):
            cells.append(f"{statistics.median(times[timing, variant, size]) * 1e3:.2f}")
        cells += [report.spread(ratios(times, timing, variant, size)) for variant in VARIANTS]
        lines.append(cells)
    head = ("tensor", "Open MPI (ms)", "swagg (ms)", "swagg, buffered (ms)", "speed, by Open MPI's", "buffered, by Open MPI's")
    return report.table(head, lines)


def main():
    directory, results, *figures_file = sys.argv[1:]
    times = load(directory)
    sizes = sorted({size for _, _, size in times})
    runs = len(times["mean", "openmpi", sizes[0]])
    text = [f"Measured by `script/bench reduce` in {runs} runs on {report.machine()}.", READING.strip()]
    for timing, words in TIMINGS.items():
        text += [words + ":", size_table(times, timing, sizes)]
    report.write_section(results, "reduce", "\n\n".join(text))
    if figures_file:
        report.write_json(figures_file[0], report.flat(figures(times, sizes)))
    print("\n\n".join(text[2:]))


main()
