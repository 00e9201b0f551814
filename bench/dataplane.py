#!/usr/bin/env python3
"""Makes figures of what dataplane.sh measured: dataplane.py RECORDS RESULTS.md [FIGURES.json]"""
import glob
import json
import os
import statistics
import sys

import report

READING = """
swagg on one lcore, aggregating the chunks of a job or switching frames from port to port, beside `dpdk-testpmd` on the same
CPU, which only swaps a frame's MAC addresses and sends it back, out of the same port or the other one. Both work between the
same memifs, with the same frames, 256 of them on their way (in each direction), and take turns in each run. `swagg-source`,
on another CPU, plays 8 workers on one port that send float32, to be added on arrival: it sends a worker's next frame as soon as the answer has
come, and compares a sample of the answers bit by bit. Sizes are those on the wire, with the 4 bytes of the FCS (1518 gives
the same frames as 1516: 365 floats). Mpps are frames received by the device under test, each of which is answered by one;
medians over the runs. Percentages are of forwarding in the same run. `idle` is the share of time in which the source had
nothing to do, with either device: it copies nothing (memif's zero-copy), and so leads the devices by far with all but small
frames; where it is near 0% the source is at its limit, and the device may be faster. `rate_n8_vs_n2` compares frames per
second of 8 workers and of 2, with frames of 1076 bytes.
"""


def load(directory):
    """{(device, what): [the source's report, one a run]}"""
    rows = {}
    for path in sorted(glob.glob(os.path.join(directory, "*,*.json"))):
        _, device, what = os.path.basename(path)[:-len(".json")].split(",", 2)
        with open(path) as f:
            rows.setdefault((device, what), []).append(json.load(f))
    return rows


def rates(rows, device, what):
    return [row["answers_pps"] for row in rows[device, what]]


def ratios(rows, over, under):
    """Run by run."""
    return [a / b for a, b in zip(rates(rows, *over), rates(rows, *under))]


# What swagg does, and the forwarding that it is compared with.
AGGREGATED, SWITCHED = ("aggregated", "returned"), ("switched", "exchanged")


def against_forwarding(rows, pair, size):
    what, forwarded = pair
    return ratios(rows, ("swagg", f"{what},{size}"), ("testpmd", f"{forwarded},{size}"))


def figures(rows, core):
    """{name: ([value, one a run], aim)}"""
    measured = {}
    for name, size, aim in (("192", 192, ">= 0.80"), ("1076", 1076, ">= 0.90"), ("1516", 1516, ">= 0.90"),
                            ("9000", 9018, ">= 0.90")):
        measured[f"agg_vs_forward_{name}"] = (against_forwarding(rows, AGGREGATED, size), aim)
    measured["bridge_vs_forward_64"] = (against_forwarding(rows, SWITCHED, 64), ">= 0.80")
    measured["rate_n8_vs_n2"] = (ratios(rows, ("swagg", "aggregated,1076"), ("swagg", "two_workers,1076")), ">= 0.90")
    measured["apply_vs_memcpy_1024"] = ([core["apply_vs_memcpy_1024"]], "<= 1.5")
    return measured


def mpps(rows, device, what):
    return f"{statistics.median(rates(rows, device, what)) / 1e6:.2f}"


def idle(rows, device, what):
    return f"{100 * statistics.median(row['idle'] for row in rows[device, what]):.0f}%"


def percent(values):
    return f"{100 * statistics.median(values):.0f}%"


def sizes(rows):
    return sorted(int(what.split(",")[1]) for _, what in rows if what.startswith("aggregated,"))


def size_table(rows, what, forwarded):
    lines = []
    for size in sizes(rows):
        ours, theirs = ("swagg", f"{what},{size}"), ("testpmd", f"{forwarded},{size}")
        lines.append((size, rows[ours][0]["elements"], mpps(rows, *ours), mpps(rows, *theirs), percent(ratios(rows, ours, theirs)),
                      idle(rows, *ours), idle(rows, *theirs)))
    return report.table(("frame", "floats", f"{what}, Mpps", "forwarded, Mpps", "of forwarding", f"idle: {what}", "forwarded"),
                        lines)


JOBS = (("aggregated", "returned", "8 workers on one port, float32, on arrival"), ("two_workers", "returned", "2 workers"),
        ("in_order", "returned", "in the order of the ranks"), ("int32", "returned", "int32"),
        ("no_checksum", "returned", "workers send no UDP checksums"), ("eight_ports", "eight_ports", "each worker on a port of its own"))


def job_table(rows):
    lines = []
    for what, forwarded, name in JOBS:
        ours, theirs = ("swagg", f"{what},1076"), ("testpmd", f"{forwarded},1076")
        lines.append((name, mpps(rows, *ours), mpps(rows, *theirs), percent(ratios(rows, ours, theirs)), idle(rows, *ours)))
    return report.table(("frames of 1076 bytes", "aggregated, Mpps", "forwarded, Mpps", "of forwarding", "idle: aggregated"), lines)


OPEN_LOOP = """
The same job in an open loop: the source sends at a rate, whether or not sums come, and the chunks' numbers start over after four
rounds through the slots, as in a looped capture. The port makes frames wait when its ring is full; what is lost is a
contribution, or a sum for which the source's ring had no room. A contribution that is lost holds up its slot for a round of the
numbers, so one may cost several answers.
"""


def load_table(rows):
    lines = []
    for load in (50, 90, 0):
        reports = rows["swagg", f"offered_{load},1076"]
        lost = statistics.median(row["lost"] / (row["answers"] + row["lost"]) for row in reports)
        offered, sent, answered = (f"{statistics.median(row[key] for row in reports) / 1e6:.2f}"
                                   for key in ("offered_pps", "sent_pps", "answers_pps"))
        lines.append((f"{load}% of the closed loop" if load else "as much as the port takes", offered if load else "-", sent,
                      answered, f"{100 * lost:.4f}%"))
    return report.table(("offered load", "Mpps", "sent, Mpps", "answered, Mpps", "lost"), lines)


REPLAYED = """
A capture of the same job in a loop, read from memory by `net_pcap`, which copies each frame into a buffer and drops what it is to
send: what a frame costs where the device does next to nothing. The difference is what aggregation itself takes.
"""


def replay_table(rows):
    lines = []
    for size in sorted(int(what.split(",")[1]) for device, what in rows if what.startswith("replayed,") and device == "swagg"):
        ours, theirs = ([row["received_pps"] for row in rows[device, f"replayed,{size}"]] for device in ("swagg", "testpmd"))
        extra = [1e9 / a - 1e9 / b for a, b in zip(ours, theirs)]
        lines.append((size, f"{statistics.median(ours) / 1e6:.2f}", f"{statistics.median(theirs) / 1e6:.2f}",
                      f"{statistics.median(extra):.0f} ({min(extra):.0f} .. {max(extra):.0f})"))
    return report.table(("frame", "aggregated, Mpps", "forwarded, Mpps", "difference, ns a frame (extremes)"), lines)


def main():
    directory, results, *figures_file = sys.argv[1:]
    rows = load(directory)
    with open(os.path.join(directory, "core.json")) as f:
        measured = figures(rows, json.load(f))
    checked = sum(row.get("checked", 0) for (device, what), group in rows.items() for row in group if device == "swagg")
    runs = len(rows["swagg", "aggregated,1076"])
    text = "\n\n".join([f"Measured by `script/bench dataplane` in {runs} runs on {report.machine()}.", READING.strip(),
                        report.figure_table(measured), size_table(rows, *AGGREGATED),
                        size_table(rows, *SWITCHED), job_table(rows), OPEN_LOOP.strip(), load_table(rows), REPLAYED.strip(), replay_table(rows),
                        f"Of swagg's answers {checked:,} were compared; all were right."])
    report.write_section(results, "dataplane", text)
    if figures_file:
        by_size = {f"{name}_{size}": (against_forwarding(rows, pair, size), "") for size in sizes(rows)
                   for name, pair in (("agg_vs_forward", AGGREGATED), ("bridge_vs_forward", SWITCHED))}
        report.write_json(figures_file[0], report.flat(by_size | measured))
    print(text)


main()
