#!/usr/bin/env python3
"""Makes figures of what placement.sh measured: placement.py RECORDS RESULTS.md [FIGURES.json]"""
import glob
import json
import os
import statistics
import sys

import report

READING = """
`swagg-source`, on a CPU of its own, plays 8 workers over two memifs, with 256 frames on their way, 64 if they are jumbo
frames; the switch's lcores have a CPU each and never sleep. The forms take turns in each run. Mpps are frames received by the switch; the ratio is to one lcore
for everything, within each run, and the share of an lcore that ratio divided by the number of lcores: what a further lcore
brings. `idle` is the share of time in which the source had nothing to do: near 0% it is the limit, not the switch. In the
column of tasks a bar parts the lcores.
"""

# Names: the tasks, and how many lcores.
FORMS = {
    "one": ("rx tx aggregate: run to completion", 1),
    "ports_apart": ("rx tx aggregate of a port each: run to completion", 2),
    "aggregation_apart": ("rx tx \\| aggregate", 2),
    "receiving_apart": ("rx \\| tx aggregate", 2),
    "sending_apart": ("rx aggregate \\| tx", 2),
    "p_2x": ("rx tx \\| aggregate \\| aggregate: seed 003's P + 2X", 3),
    "2p_x": ("rx \\| tx \\| aggregate: seed 003's 2P + X", 3),
    "ports_and_aggregation_apart": ("rx tx of a port each \\| aggregate", 3),
    "ports_apart_and_one_more": ("rx tx aggregate of a port each \\| aggregate", 3),
}


def load(directory):
    """{(form, frame): [the source's report, one a run]}"""
    rows = {}
    for path in sorted(glob.glob(os.path.join(directory, "*,*.json"))):
        _, form, frame = os.path.basename(path)[:-len(".json")].split(",")
        with open(path) as f:
            rows.setdefault((form, int(frame)), []).append(json.load(f))
    return rows


def ratios(rows, form, frame):
    """To one lcore, run by run."""
    return [a["answers_pps"] / b["answers_pps"] for a, b in zip(rows[form, frame], rows["one", frame])]


def table(rows, frame):
    lines = []
    for form, (tasks, lcores) in FORMS.items():
        if (form, frame) not in rows:
            continue
        measured = rows[form, frame]
        pps = statistics.median(row["answers_pps"] for row in measured) / 1e6
        ratio = ratios(rows, form, frame)
        idle = 100 * statistics.median(row["idle"] for row in measured)
        lines.append((tasks, lcores, f"{pps:.2f}", report.spread(ratio), f"{statistics.median(ratio) / lcores:.2f}",
                      f"{idle:.0f}%"))
    head = (f"{frame} bytes: tasks", "lcores", "Mpps", "to one lcore (extremes)", "share of an lcore", "idle")
    return report.table(head, lines)


def main():
    directory, results, *figures_file = sys.argv[1:]
    rows = load(directory)
    frames = sorted({frame for _, frame in rows})
    runs = len(rows["one", frames[0]])
    text = "\n\n".join([f"Measured by `script/bench placement` in {runs} runs on {report.machine()}.", READING.strip()] +
                       [table(rows, frame) for frame in frames])
    report.write_section(results, "placement", text)
    if figures_file:
        measured = {f"placement_{form}_{frame}": (ratios(rows, form, frame), "") for form, frame in rows}
        report.write_json(figures_file[0], report.flat(measured))
    print(text)


main()
