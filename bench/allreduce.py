#!/usr/bin/env python3
"""Makes figures of what allreduce.sh measured: allreduce.py RECORDS RESULTS.md [FIGURES.json]"""
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
    "openmpi_merging": "Open MPI, Linux bridge whose ports merge frames (gro)",
    "openmpi_through_swagg": "Open MPI, switched by swagg",
    "swagg": "swagg",
    "swagg_one_lcore": "swagg, one polling lcore",
    "swagg_af_packet": "swagg, over DPDK's net_af_packet",
    "swagg_loss_0.1pct": "swagg, 0.1% loss on every link and direction",
    "swagg_loss_1pct": "swagg, 1% loss on every link and direction",
}
SETTINGS = {"200mbit": "20 MiB, links of 200 Mbit/s", "cpu": "16 MiB, no limit"}

READING = """
Four hosts, one rank each, float, MTU 1500, segmentation offloads off, so that frames are real frames. The baseline is
native Open MPI 4.1 (`pml ob1`, `btl tcp`, its own choice of algorithms) over a plain Linux bridge between the same
hosts, with the same limits. At this size its own choice of allreduce is not its fastest here; `..._ring` compares with
the best that was found by hand (`coll_tuned_allreduce_algorithm 4`). Links are limited by `tbf` in both directions. All
variants take turns in every run. The daemon is as it comes, with a polling lcore for two CPUs; `..._one_lcore` gives it one. Its
ports are kernel interfaces (`kernel:NAME`), on which it switches generic receive offload on while it runs, so that what comes in as
frames passes the kernel merged; the hosts' and the bridge's interfaces have it off, as veths have by default, and `..._merging`
compares with a bridge whose ports have it, too. `..._af_packet` uses DPDK's driver for the ports. A time is that of the slowest rank; a ratio is taken within each run, and its median
over the runs is shown with its extremes. More is better, except for `loss_inflation`, the time with frames lost at
random on every link and direction over the time without. `wire_share` is goodput over what the framing leaves of the
link's rate, {elements} floats in a frame of {frame} bytes: {framing:.1%}.
""".format(elements=ELEMENTS, frame=FRAME, framing=FRAMING)


# Ratios of times: name, setting, over, under, collective, aim.
RATIOS = (
    ("allreduce_200mbit_vs_openmpi", "200mbit", "openmpi", "swagg", "allreduce", ">= 2.0"),
    ("allreduce_200mbit_vs_openmpi_ring", "200mbit", "openmpi_ring", "swagg", "allreduce", ""),
    ("reduce_200mbit_vs_openmpi", "200mbit", "openmpi", "swagg", "reduce", ">= 2.5"),
    ("allreduce_cpu_vs_openmpi", "cpu", "openmpi", "swagg", "allreduce", ">= 1.2"),
    ("allreduce_cpu_vs_openmpi_ring", "cpu", "openmpi_ring", "swagg", "allreduce", ""),
    ("allreduce_cpu_vs_openmpi_merging", "cpu", "openmpi_merging", "swagg", "allreduce", ""),
    ("allreduce_cpu_one_lcore_vs_openmpi", "cpu", "openmpi", "swagg_one_lcore", "allreduce", ""),
    ("allreduce_cpu_af_packet_vs_openmpi", "cpu", "openmpi", "swagg_af_packet", "allreduce", ""),
    ("reduce_cpu_vs_openmpi", "cpu", "openmpi", "swagg", "reduce", ""),
    ("loss_inflation_0.1pct", "200mbit", "swagg_loss_0.1pct", "swagg", "allreduce", "< 1.1"),
    ("loss_inflation_1pct", "200mbit", "swagg_loss_1pct", "swagg", "allreduce", "< 1.5"),
    ("openmpi_through_swagg_vs_bridge", "200mbit", "openmpi", "openmpi_through_swagg", "allreduce", ""),
    ("openmpi_through_swagg_vs_bridge_cpu", "cpu", "openmpi", "openmpi_through_swagg", "allreduce", ""),
)


def figures(rows):
    """{name: ([value, one a run], aim)}"""
    wire = [row["bytes"] * 8 / (row["median_us"] / 1e6) / (RATE * FRAMING)
            for row in rows["200mbit", "swagg", "allreduce"]]
    measured = {"allreduce_200mbit_wire_share": (wire, ">= 0.95")}
    for name, setting, over, under, op, aim in RATIOS:
        measured[name] = (report.ratios(rows, (setting, over, op), (setting, under, op)), aim)
    return measured


def time_table(rows):
    lines = []
    for (setting, variant, op), measured in sorted(rows.items(), key=lambda item: list(SETTINGS).index(item[0][0])):
        taken = report.times(rows, setting, variant, op)
        median = statistics.median(taken)
        lines.append((f"{op}, {SETTINGS[setting]}: {NAMES[variant]}", report.spread(taken),
                      f"{measured[0]['bytes'] * 8 / median / 1e9:.3f}"))
    return report.table(("what", "time (s), median (extremes)", "algbw (Gbit/s)"), lines)


def main():
    directory, results, *figures_file = sys.argv[1:]
    rows = report.load_mpi_perf(directory)
    measured = figures(rows)
    runs = len(rows["200mbit", "swagg", "allreduce"])
    text = "\n\n".join([f"Measured by `script/bench allreduce` in {runs} runs on {report.machine()}.", READING.strip(),
                        report.figure_table(measured), time_table(rows)])
    report.write_section(results, "allreduce", text)
    if figures_file:
        report.write_json(figures_file[0], report.flat(measured))
    print(report.figure_table(measured))


main()
