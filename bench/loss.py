"""What losses cost: what loss.sh measured."""
import json
import re
from functools import partial

import records
import rooms
from figures import Figure, Sample, figure_table, found, table
from plot import Panel, lines

MEASURES = (*rooms.MPI, "sim/tat.c", "sim/tat_table.c")  # rooms.py

LOSSES = ("0.01", "0.1", "1")  # percent
VARIANTS = {"swagg": ("", "With {}% of frames lost an allreduce takes {{:.3f}} times as long as without."),
            "openmpi": ("openmpi_", "With {}% of frames lost Open MPI's takes {{:.3f}} times as long as without.")}
AIMS = {"loss_inflation_0.01pct": "<= 1.02", "loss_inflation_0.1pct": "<= 1.05", "loss_inflation_1pct": "<= 1.20"}
FIGURES = tuple(Figure(f"{prefix}loss_inflation_{loss}pct", says.format(loss), AIMS.get(f"{prefix}loss_inflation_{loss}pct", ""),
                       first_screen=variant == "swagg" or loss == "1")
                for variant, (prefix, says) in VARIANTS.items() for loss in LOSSES)

READING = """
Allreduce of 20 MiB of float on four hosts, one rank each, links of 100 Mbit/s, MTU 1500, segmentation offloads off: with faster links
the CPUs, which hosts and switch share, would be the limit, and not the links. Frames are lost at random, with the same probability in both directions of each of the four ports, so that a chunk's way to the
switch and back loses with twice that. Inflation is the time with losses over the time without, of the same variant in the
same run: less is better, 1 is best. Open MPI's traffic is switched by the same daemon, and loses the same.
"""

SIMULATOR = """
The simulator (`swagg-sim tat`) runs the same switch and worker code over faster links than this machine has: `ours` is the
timer with probes, `paper` the SwitchML paper's, which sends every chunk again after a fixed time. TAT is the time until a tensor is
aggregated.
"""
SIM_ROW = re.compile(r"^\s*(\d+)\s+([\d.]+)\s+(ours|paper)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\d+)\s+(\d+)\s+(\d+)\s*$", re.M)


def simulated(text):
    names = ("gbps", "loss", "timer", "tat_ms", "inflation", "wire", "packets", "resent", "probes")
    rows = [{name: cell if name == "timer" else json.loads(cell) for name, cell in zip(names, row)} for row in SIM_ROW.findall(text)]
    return {"setting": text.strip().splitlines()[0].strip(), "rows": rows}


def seconds_of(directory):
    return {key[:2]: [row["median_us"] / 1e6 for row in group] for key, group in records.mpi_perf(directory).items()}


def ways(directory):
    seconds = seconds_of(directory)

    def inflation(loss, variant):
        return records.ratios(seconds[f"{loss}pct", variant], seconds["0pct", variant])

    return {f"{prefix}loss_inflation_{loss}pct": partial(inflation, loss, variant)
            for variant, (prefix, _) in VARIANTS.items() for loss in LOSSES}


def collect(directory):
    seconds = seconds_of(directory)
    times = [{"variant": variant, "loss": float(loss), "seconds": seconds[f"{loss}pct", variant]}
             for variant in VARIANTS for loss in ("0", *LOSSES)]
    return {"figures": found(ways(directory)) | json.loads(records.text(directory, "sim.json")), "times": times, "simulated": simulated(records.text(directory, "sim.txt"))}


def simulator_table(data):
    rows = [(row["gbps"], f"{row['loss']:g}%", row["timer"], f"{row['tat_ms']:.3f}", f"{row['inflation']:.3f}", f"{row['wire']:.3f}",
             f"{row['packets']:,}", f"{row['resent']:,}", f"{row['probes']:,}") for row in data["simulated"]["rows"]]
    return table(("Gbit/s", "loss", "timer", "TAT (ms)", "inflation", "share of the wire", "packets", "sent again", "probes"), rows)


def answer(data):
    def inflation(loss, prefix=""):
        return f"{Sample(data['figures'][f'{prefix}loss_inflation_{loss}pct']).median:.3f}"

    return (f"With 0.1% of frames lost on every link and direction an allreduce takes {inflation('0.1')} times as long as without, with "
            f"1% {inflation('1')} times; Open MPI over the same switch {inflation('0.1', 'openmpi_')} and {inflation('1', 'openmpi_')}. "
            f"Over links of 100 Gbit/s, in the simulator, the factor at 1% is {sim_inflation(data, 100, 'ours', 1).median:.2f}; with the "
            f"SwitchML paper's timer it would be {sim_inflation(data, 100, 'paper', 1).median:.2f}.")


def sim_inflation(data, gbps, timer, loss):
    return next(Sample(row["inflation"]) for row in data["simulated"]["rows"]
                if (row["gbps"], row["timer"], row["loss"]) == (gbps, timer, loss))


def pages(data):
    times = [(f"{row['variant']}, {row['loss']:g}% loss", Sample(row["seconds"]).spread()) for row in data["times"]]
    return {"loss": "\n\n".join([
        answer(data), "![Inflation by loss rate](loss.svg)", figure_table(FIGURES, data),
        table(("what", "time (s), median (extremes)"), times), "## Faster links, simulated", SIMULATOR.strip(),
        f"Setting: {data['simulated']['setting']}.", simulator_table(data), "## How it is measured", READING.strip()])}


def plots(data):
    ticks = [(float(loss), f"{loss}%") for loss in LOSSES]
    measured = [(name, kind, [(float(loss) * shift, Sample(data["figures"][f"{prefix}loss_inflation_{loss}pct"])) for loss in LOSSES])
                for prefix, name, kind, shift in (("", "swagg", "ours", 0.97), ("openmpi_", "Open MPI", "peer", 1.03))]
    simulated = [(f"{timer}, {gbps} Gbit/s", kind, [(float(loss), sim_inflation(data, gbps, timer, float(loss))) for loss in LOSSES])
                 for timer, gbps, kind in (("ours", 10, "ours"), ("ours", 100, "third"), ("paper", 10, "peer"), ("paper", 100, "second"))]
    unit = "time by the time without loss"
    return {"loss": lines("Inflation by loss rate", [
        Panel("Measured, links of 100 Mbit/s", unit, series=measured, x_ticks=ticks, x_unit="frames lost", floor=0.9),
        Panel("Simulated: our timer and the paper's", unit, series=simulated, x_ticks=ticks, x_unit="frames lost", floor=1)])}
