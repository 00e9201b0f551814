#!/usr/bin/python3
"""Draws loss against time: plot.py SVG NAME=KIND=LOG..., logs of python/examples/train.py, kinds of bench/plot.py."""
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
sys.dont_write_bytecode = True
from figures import Sample
from plot import Panel, linear_ticks, lines


def main():
    series = []
    for said in sys.argv[2:]:
        name, kind, path = said.split("=", 2)
        with open(path, newline="") as f:
            series.append((name, kind, [(float(row[0]), Sample(float(row[1]))) for row in csv.reader(f)]))
    last = max(points[-1][0] for *_, points in series)
    ticks = [(value, f"{value:g}") for value in linear_ticks(0, last)]
    panel = Panel("Loss, by the time since training began: an epoch each", "loss", series=series, x_ticks=ticks, x_unit="s", x_log=False)
    Path(sys.argv[1]).write_text(lines("Loss against time", [panel]))


main()
