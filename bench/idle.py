#!/usr/bin/env python3
"""Makes figures of what idle.sh measured: idle.py RECORDS RESULTS.md [FIGURES.json]"""
import glob
import json
import os
import statistics
import sys

import report

READING = """
Four hosts on veths, one polling lcore, no traffic at all: the daemon's share of a CPU, by its accounted time
(in ticks of 10 ms, so less than 0.005 is nothing that can be told from 0). Then one host pings the switch five times a second:
every ping finds it asleep. As often two hosts begin an allreduce of one packet, both at once. Round trips and allreduces are
medians of all in all runs; ratios are of a run's medians. `max_sleep_us` bounds the naps. "Linux bridge" is the same ping to the
kernel's own bridge.
"""

SETTINGS = {
    "busy": "`max_sleep_us: 0`: busy polling",
    "quick": "`max_sleep_us: 100`",
    "default": "`max_sleep_us: 1000`: the default",
    "slow": "`max_sleep_us: 10000`",
    "bridge": "Linux bridge",
}


def load(directory):
    """{setting: [one a run]}"""
    rows = {}
    for path in sorted(glob.glob(os.path.join(directory, "*,*.json"))):
        with open(path) as f:
            rows.setdefault(os.path.basename(path)[:-len(".json")].split(",")[1], []).append(json.load(f))
    return rows


def ratios(rows, setting):
    """To busy polling, run by run."""
    return [statistics.median(a["rtt_ms"]) / statistics.median(b["rtt_ms"]) for a, b in zip(rows[setting], rows["busy"])]


def allreduces(rows, setting):
    """In microseconds, the median of each run."""
    return [statistics.median(row["allreduce_us"]) for row in rows[setting]]


def table(rows):
    lines = []
    for setting, name in SETTINGS.items():
        trips = sorted(1000 * t for row in rows[setting] for t in row["rtt_ms"])
        share = sums = ""
        if setting != "bridge":
            share = report.spread([row["cpu"] for row in rows[setting]])
            sums = f"{statistics.median(t for row in rows[setting] for t in row['allreduce_us']):.0f}"
        lines.append((name, share, f"{statistics.median(trips):.0f}", f"{trips[len(trips) * 9 // 10]:.0f}", f"{trips[-1]:.0f}",
                      report.spread(ratios(rows, setting)), sums))
    return report.table(("setting", "CPUs (extremes)", "median round trip (us)", "90%", "longest", "to busy polling (extremes)",
                         "allreduce (us)"), lines)


def main():
    directory, results, *figures_file = sys.argv[1:]
    rows = load(directory)
    text = "\n\n".join([f"Measured by `script/bench idle` in {len(rows['busy'])} runs on {report.machine()}.", READING.strip(),
                        table(rows)])
    report.write_section(results, "idle", text)
    if figures_file:
        cpu = {f"idle_cpu_{name}": ([row["cpu"] for row in group], "") for name, group in rows.items() if name != "bridge"}
        sums = {f"idle_allreduce_us_{name}": (allreduces(rows, name), "") for name in rows if name != "bridge"}
        trip = {f"idle_round_trip_{name}_vs_busy": (ratios(rows, name), "") for name in rows}
        report.write_json(figures_file[0], report.flat(cpu | trip | sums))
    print(text)


main()
