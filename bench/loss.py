#!/usr/bin/env python3
"""Makes figures of what loss.sh measured: loss.py RECORDS RESULTS.md [FIGURES.json]"""
import json
import os
import statistics
import sys

import report

LOSSES = ("0.01pct", "0.1pct", "1pct")
AIMS = {"loss_inflation_0.01pct": "<= 1.02", "loss_inflation_0.1pct": "<= 1.05", "loss_inflation_1pct": "<= 1.20"}

READING = """
Allreduce of 20 MiB of float on four hosts, one rank each, links of 200 Mbit/s, MTU 1500, segmentation offloads off. Frames
are lost at random, with the same probability in both directions of each of the four ports, so that a chunk's way to the
switch and back loses with twice that. Inflation is the time with losses over the time without, of the same variant in the
same run: less is better, 1 is best. Open MPI's traffic is switched by the same daemon, and loses the same.
"""

SIMULATOR = """
The simulator (`swagg-sim tat`) runs the same switch and worker code over faster links than this machine has: `ours` is the
timer with probes, `paper` the SwitchML paper's, which sends every chunk again after a fixed time.
"""


def inflations(rows, variant, loss):
    return report.ratios(rows, (loss, variant, "allreduce"), ("0pct", variant, "allreduce"))


def main():
    directory, results, *figures_file = sys.argv[1:]
    rows = report.load_mpi_perf(directory)
    measured = {}
    for prefix, variant in (("", "swagg"), ("openmpi_", "openmpi")):
        for loss in LOSSES:
            name = f"{prefix}loss_inflation_{loss}"
            measured[name] = (inflations(rows, variant, loss), AIMS.get(name, ""))
    with open(os.path.join(directory, "sim.txt")) as f:
        simulated = f.read()
    times = [(f"{variant}, {loss[:-3]}% loss", report.spread(report.times(rows, loss, variant, "allreduce")))
             for variant in ("swagg", "openmpi") for loss in ("0pct",) + LOSSES]
    text = "\n\n".join([f"Measured by `script/bench loss` on {report.machine()}.", READING.strip(),
                        report.figure_table(measured),
                        report.table(("what", "time (s), median (extremes)"), times),
                        SIMULATOR.strip(), "```\n" + simulated.strip() + "\n```"])
    report.write_section(results, "loss", text)
    if figures_file:
        with open(os.path.join(directory, "sim.json")) as f:
            report.write_json(figures_file[0], {**report.flat(measured), **json.load(f)})
    print(report.figure_table(measured))


main()
