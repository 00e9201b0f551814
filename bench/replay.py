"""Training replayed by models' profiles: what replay.sh has had simulated, and measured on four hosts."""
import json
import os
from functools import partial

import records
import rooms
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars

MEASURES = (*rooms.WORKERS, "replay", "sim/replay", "sim/adder.c")  # rooms.py

MODELS = {"deeplight": "DeepLight", "lstm": "LSTM", "ncf": "NCF", "bert": "BERT", "vgg19": "VGG19", "ugatit": "UGATIT", "resnet50": "ResNet-50", "ssd": "SSD"}
ON_HOSTS = ("deeplight", "vgg19", "bert")
WAYS = {"swagg": "swagg", "ring": "Open MPI's ring", "openmpi": "Open MPI as it is", "gloo": "gloo"}
# SwitchML's paper, extended version: table 1, a batch and the share of communication in it; table 2, how many times as fast a switch is as an ideal ring.
PAPER = {"10g": {"DeepLight": (2101, 97, 1.80), "LSTM": (1534, 94, 1.77), "NCF": (149, 72, 1.54), "BERT": (1677, 67, 1.54), "VGG19": (661, 73, 1.60),
                 "UGATIT": (1612, 28, 1.22), "ResNet-50": (299, 29, 1.05), "SSD": (293, 26, 1.01)},
         "100g": {"DeepLight": (258, 79, 1.67), "LSTM": (312, 46, 1.20), "NCF": (46, 23, 1.22), "BERT": (668, 17, 1.14), "VGG19": (499, 10, None),
                  "UGATIT": (1212, 4, None), "ResNet-50": (270, 3, None), "SSD": (293, 3, None)}}
LINKS = {"10g": "10 Gb/s", "100g": "100 Gb/s"}

READING = """
A model's [profile](../replay.md#profiles) says how many bytes of gradients its layers have and how long they compute. `swagg-sim replay` plays a step of it: the real
[streams and pool](../simulation.md#training) over links of 5 us that lose nothing, with 1460 bytes of gradients in a frame, beside the best ring: one that
loses nothing, adds in no time, passes on every full segment of TCP at once and acknowledges nothing. Time is simulated, so one run tells everything.

On hosts: four of them, one rank each, on veths whose rate is limited to 100 Mbit/s both ways, a hundredth of 10 Gb/s; MTU 1500, segmentation offloads off; swagg is the hosts' only switch,
and all share this machine's CPUs. `swagg-replay` and `mpi-replay` sleep as long as the model computes, and sum a hundredth of its gradients, so that a step takes as long as
with the whole of them at 10 Gb/s. A run's figure is the median of its steps. They are held against the simulation of four workers, the same bytes and links. *Open MPI's ring* is
that of its `tuned` component; calls are blocking, made one after the other as gradients become ready. So are those of gloo, of Debian's PyTorch 1.13.1, by `gloo-replay`.

The paper's times are of eight workers with GPUs of 2016, whose communication is calculated as if it went at the links' rate; its gains, of table 2, are calculated from records of these runs.
Profiles are made of the paper's batch and shares at 10 Gb/s, or at 100 where computing hides nearly all communication; there a step agrees because it was made so. What they are worth
shows in what they do not have from there: the step at the other speed, and the gains.
"""


def figure(name, model, gbps, aim=""):
    links = "10 Gb/s" if gbps == "10g" else "100 Gb/s"
    return Figure(name, f"Simulated, on links of {links} a step of {model} on eight workers is {{:.2f}} times as fast as with the best ring that there can be.", aim)


FIGURES = (
    figure("replay_deeplight_10g", "DeepLight", "10g", ">= 1.71"),
    figure("replay_vgg19_10g", "VGG19", "10g", ">= 1.52"),
    figure("replay_bert_10g", "BERT", "10g", ">= 1.46"),
    figure("replay_deeplight_100g", "DeepLight", "100g"),
    *(Figure(f"replay_{model}_hosts_off", f"On four hosts with links slowed in proportion a step of {MODELS[model]} differs by {{:.1%}} from its simulation.", "<= 0.05", first_screen=False)
      for model in ON_HOSTS),
    *(Figure(f"replay_{model}_vs_ring", f"There it is {{:.2f}} times as fast as with Open MPI's ring ({MODELS[model]}).", first_screen=False) for model in ON_HOSTS),
    *(Figure(f"replay_{model}_vs_gloo", f"There it is {{:.2f}} times as fast as with gloo ({MODELS[model]}).", first_screen=False) for model in ON_HOSTS),
)


def simulated(directory):
    """{what: {model: row of swagg-sim replay}}"""
    played = {}
    for what in (*LINKS, "hosts"):
        path = os.path.join(directory, f"sim_{what}.json")
        if os.path.exists(path):
            with open(path) as f:
                played[what] = {row["model"]: row for row in json.load(f)}
    return played


def measured(directory):
    """{(model, way): [report of a run]}"""
    return {parts: runs for parts, runs in records.reports(directory).items() if len(parts) == 2 and parts[1] in WAYS}


def steps(runs, model, way):
    return [run["step_ms"] for run in runs[model, way]]


def ways(directory):
    sim, runs = simulated(directory), measured(directory)

    def gain(what, model):
        return sim[what][MODELS[model]]["gain"]

    def off(model):
        expected = sim["hosts"][MODELS[model]]["switch_step_ms"]
        return [abs(step / expected - 1) for step in steps(runs, model, "swagg")]

    def vs(way, model):
        return records.ratios(steps(runs, model, way), steps(runs, model, "swagg"))

    return {**{f"replay_{model}_10g": partial(gain, "10g", model) for model in ON_HOSTS}, "replay_deeplight_100g": partial(gain, "100g", "deeplight"),
            **{f"replay_{model}_hosts_off": partial(off, model) for model in ON_HOSTS},
            **{f"replay_{model}_vs_{way}": partial(vs, way, model) for way in ("ring", "gloo") for model in ON_HOSTS if way == "ring" or (model, way) in runs}}


def collect(directory):
    sim, runs = simulated(directory), measured(directory)
    on_hosts = [{"model": MODELS[model], "way": way, "step_ms": steps(runs, model, way), "communication_ms": [run["communication_ms"] for run in group],
                 "overlap_ms": [run["overlap_ms"] for run in group]} for (model, way), group in sorted(runs.items())]
    return {"simulated": {what: list(rows.values()) for what, rows in sim.items()}, "hosts": on_hosts}


# --- the page -------------------------------------------------------------------------------------------------------

def rows_of(data, what):
    """{model: row}, in the paper's order"""
    rows = {row["model"]: row for row in data["simulated"][what]}
    return {model: rows[model] for model in MODELS.values() if model in rows}


def share(row, by):
    return 100 * row[f"{by}_communication_ms"] / row[f"{by}_step_ms"]


def simulated_table(data, what):
    head = ("model", "gradients (MB)", "computing (ms)", "step, switch (ms)", "communication", "step, best ring (ms)", "communication", "gain", "the paper's step (ms)", "communication", "gain")
    body = []
    for model, row in rows_of(data, what).items():
        batch, communication, gain = PAPER[what][model]
        body.append((model, f"{row['bytes'] / 1e6:.0f}", f"{row['computing_ms']:.0f}", f"{row['switch_step_ms']:.0f}", f"{share(row, 'switch'):.0f}%", f"{row['ring_step_ms']:.0f}",
                     f"{share(row, 'ring'):.0f}%", f"{row['gain']:.2f}", batch, f"{communication}%", f"{gain:.2f}" if gain else "-"))
    faster = {"100g": "\n\nWith GPUs that are ten times as fast all times are a tenth of those at 10 Gb/s, and gains are the same as there."}.get(what, "")
    return f"## At {LINKS[what]}\n\n" + table(head, body) + faster


def hosts_table(data):
    expected = {(model, way): row[f"{by}_step_ms"] for model, row in rows_of(data, "hosts").items() for way, by in (("swagg", "switch"), ("ring", "ring"))}
    body = []
    for model in (MODELS[name] for name in ON_HOSTS):
        for way, says in WAYS.items():
            for row in data["hosts"]:
                if (row["model"], row["way"]) != (model, way):
                    continue
                step, played = Sample(row["step_ms"]), expected.get((model, way))
                body.append((model, says, step.spread(0), f"{played:.0f}" if played else "-", f"{100 * Sample(row['communication_ms']).median / step.median:.0f}%",
                             f"{100 * Sample(row['overlap_ms']).median / Sample(row['communication_ms']).median:.0f}%"))
    head = ("model", "summed by", "step (ms): median (lowest .. highest run)", "simulated, best of its kind", "communication", "of that, while computing")
    lacks = "" if any(row["way"] == "gloo" for row in data["hosts"]) else "\n\nNot measured by gloo: PyTorch was not installed (`python3-torch`), or these runs are older than that."
    return "## On four hosts\n\n" + table(head, body, "llrrrr") + lacks


def answer(data):
    slow, fast = rows_of(data, "10g"), rows_of(data, "100g")
    most = max(slow.values(), key=lambda row: row["gain"])
    least = min(slow.values(), key=lambda row: row["gain"])
    says = (f"As much as it waits for its network: on eight workers with links of 10 Gb/s a step of {most['model']} is {most['gain']:.2f} times as fast as with the best ring, one of "
            f"{least['model']} {least['gain']:.2f} times")
    gain = [row["model"] for row in fast.values() if row["gain"] >= 1.1]
    return says + (f"; at 100 Gb/s {', '.join(gain)} still gain a tenth or more." if gain else ".") + " For your own model and links: [docs/replay.md](../replay.md)."


def pages(data):
    parts = [answer(data), "![Speedup over the best ring](replay.svg)", figure_table(FIGURES, data), *(simulated_table(data, what) for what in LINKS), hosts_table(data)]
    return {"replay": "\n\n".join([*parts, "## How it is measured", READING.strip()])}


def plots(data):
    panels = [Panel(f"Links of {says}", "times as fast as with the best ring, eight workers", marks=[(1, "ring")],
                    rows=[(model, Sample(row["gain"]), "ours") for model, row in rows_of(data, what).items()]) for what, says in LINKS.items()]
    return {"replay": bars("A step of training, simulated: how many times as fast as with the best ring", panels)}
