#!/usr/bin/env python3
"""Makes figures of what allreduce.sh measured: allreduce.py RECORDS RESULTS.md [FIGURES.json]"""
import glob
import json
import os
import statistics
import sys

import report

RATE = 200e6  # bits a second
MTU = 1500
ELEMENTS = (MTU - 20 - 8 - 10) // 4  # of 4 bytes, in a packet
FRAME = 14 + 20 + 8 + 10 + 4 * ELEMENTS  # bytes that tbf counts
FRAMING = 4 * ELEMENTS / FRAME

NAMES = {
    "openmpi": "Open MPI, Linux bridge",
    "openmpi_ring": "Open MPI told to use its ring, Linux bridge",
    "openmpi_through_swagg": "Open MPI, switched by swagg",
    "swagg": "swagg",
    "swagg_loss_0.1pct": "swagg, 0.1% loss on every link and direction",
    "swagg_loss_1pct": "swagg, 1% loss on every link and direction",
}
SETTINGS = {"200mbit": "20 MiB, links of 200 Mbit/s", "cpu": "16 MiB, no limit"}

READING = """
Four hosts, one rank each, float, MTU 1500, segmentation offloads off, so that frames are real frames. The baseline is
native Open MPI 4.1 (`pml ob1`, `btl tcp`, its own choice of algorithms) over a plain Linux bridge between the same
hosts, with the same limits. At this size its own choice of allreduce is not its fastest here; `..._ring` compares with
the best that was found by hand (`coll_tuned_allreduce_algorithm 4`). Links are limited by `tbf` in both directions. All
variants take turns in every run. A time is that of the slowest rank; a ratio is taken within each run, and its median
over the runs is shown with its extremes. More is better, except for `loss_inflation`, the time with frames lost at
random on every link and direction over the time without. `wire_share` is goodput over what the framing leaves of the
link's rate, {elements} floats in a frame of {frame} bytes: {framing:.1%}.
""".format(elements=ELEMENTS, frame=FRAME, framing=FRAMING)


def load(directory):
    """{(setting, variant, op): [row of mpi-perf, one a run]}"""
    rows = {}
    for path in sorted(glob.glob(os.path.join(directory, "*.json"))):
        _, setting, rest = os.path.basename(path)[:-len(".json")].split(".", 2)
        variant, op = rest.rsplit(".", 1)
        with open(path) as f:
            row, = json.load(f)
        if row["wrong"]:
            sys.exit(f"allreduce: {path}: {row['wrong']} wrong sums")
        rows.setdefault((setting, variant, op), []).append(row)
    return rows


def times(rows, *key):
    return [row["median_us"] / 1e6 for row in rows[key]]


def ratios(rows, slow, fast):
    """How many times faster `fast` is, run by run."""
    return [a / b for a, b in zip(times(rows, *slow), times(rows, *fast))]


def figures(rows):
    """{name: ([value, one a run], aim)}"""
    swagg, reduce = ("200mbit", "swagg", "allreduce"), ("200mbit", "swagg", "reduce")
    wire = [row["bytes"] * 8 / (row["median_us"] / 1e6) / (RATE * FRAMING) for row in rows[swagg]]
    return {
        "allreduce_200mbit_wire_share": (wire, ">= 0.95"),
        "allreduce_200mbit_vs_openmpi": (ratios(rows, ("200mbit", "openmpi", "allreduce"), swagg), ">= 2.0"),
        "allreduce_200mbit_vs_openmpi_ring": (ratios(rows, ("200mbit", "openmpi_ring", "allreduce"), swagg), ""),
        "reduce_200mbit_vs_openmpi": (ratios(rows, ("200mbit", "openmpi", "reduce"), reduce), ">= 2.5"),
        "allreduce_cpu_vs_openmpi": (
            ratios(rows, ("cpu", "openmpi", "allreduce"), ("cpu", "swagg", "allreduce")), ">= 1.2"),
        "allreduce_cpu_vs_openmpi_ring": (
            ratios(rows, ("cpu", "openmpi_ring", "allreduce"), ("cpu", "swagg", "allreduce")), ""),
        "reduce_cpu_vs_openmpi": (ratios(rows, ("cpu", "openmpi", "reduce"), ("cpu", "swagg", "reduce")), ""),
        "loss_inflation_0.1pct": (ratios(rows, ("200mbit", "swagg_loss_0.1pct", "allreduce"), swagg), "< 1.1"),
        "loss_inflation_1pct": (ratios(rows, ("200mbit", "swagg_loss_1pct", "allreduce"), swagg), "< 1.5"),
        "openmpi_through_swagg_vs_bridge": (
            ratios(rows, ("200mbit", "openmpi", "allreduce"), ("200mbit", "openmpi_through_swagg", "allreduce")), ""),
        "openmpi_through_swagg_vs_bridge_cpu": (
            ratios(rows, ("cpu", "openmpi", "allreduce"), ("cpu", "openmpi_through_swagg", "allreduce")), ""),
    }


def time_table(rows):
    lines = []
    for (setting, variant, op), measured in sorted(rows.items(), key=lambda item: list(SETTINGS).index(item[0][0])):
        taken = times(rows, setting, variant, op)
        median = statistics.median(taken)
        lines.append((f"{op}, {SETTINGS[setting]}: {NAMES[variant]}", f"{median:.3f}",
                      f"{min(taken):.3f} .. {max(taken):.3f}", f"{measured[0]['bytes'] * 8 / median / 1e9:.3f}"))
    return report.table(("what", "time (s)", "fastest .. slowest run", "algbw (Gbit/s)"), lines)


def figure_table(measured):
    return report.table(("figure", "median", "lowest .. highest run", "aim"),
                        [(f"`{name}`", f"{statistics.median(values):.3f}", f"{min(values):.3f} .. {max(values):.3f}", aim)
                         for name, (values, aim) in measured.items()])


def main():
    directory, results, *figures_file = sys.argv[1:]
    rows = load(directory)
    measured = figures(rows)
    runs = len(rows["200mbit", "swagg", "allreduce"])
    text = "\n\n".join([f"Measured by `script/bench allreduce` in {runs} runs on {report.machine()}.", READING.strip(),
                        figure_table(measured), time_table(rows)])
    report.write_section(results, "allreduce", text)
    if figures_file:
        flat = {}
        for name, (values, _) in measured.items():
            flat[name] = statistics.median(values)
            flat[name + "_min"], flat[name + "_max"] = min(values), max(values)
        report.write_json(figures_file[0], flat)
    print(figure_table(measured))


main()
