"""A step of training with PyTorch, a call from Python, and one by NCCL's plugin: what pytorch.sh measured."""
from functools import partial
from statistics import mean, median

import records
import rooms
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars

MEASURES = (*rooms.WORKERS, "python", "nccl")  # rooms.py

READING = """
Four hosts, one rank each, on veths; MTU 1500, segmentation offloads off. The model is four layers of 1,250 x 1,250 floats, 25 MB of gradients, on two
examples, so that a step is communication for the most part: forward, backward, and DistributedDataParallel's average of all gradients, from a barrier on, on
rank 0. Debian's PyTorch 1.13.1, a thread a rank. gloo goes over a Linux bridge between the same hosts, with the same limits; swagg is the hosts' only switch, with `swagg` as backend,
or one of its hooks. All ways take turns in each run, and a ratio is taken within each run, of the medians of its steps. Debian has no
MPI backend of PyTorch. Calls are allreduces without a limit on the links, from Python with numpy and from C with `swagg-perf`, 200 each, on the ranks' average, four times in turn. By NCCL's
plugin (`bench-nccl`) an allreduce, an all-gather and a reduce-scatter of 4 MiB are called through its table as NCCL does it, in turn with the same calls of libswagg by the same processes; NCCL itself
takes no part.
"""
WAYS = {"gloo": "gloo", "swagg": "swagg", "swagg+fp16_hook": "swagg, `fp16_hook`", "swagg+thc_hook": "swagg, `thc_hook`"}
LINKS = {"200mbit": "200 Mbit/s", "none": "no limit"}
FIGURES = (
    Figure("ddp_step_200mbit_vs_gloo", "Over links of 200 Mbit/s a step of DDP with 25 MB of gradients is {:.2f} times as fast as with gloo.", ">= 1.5"),
    Figure("ddp_step_200mbit_thc_vs_gloo", "With gradients in 4 bits it is {:.2f} times as fast as with gloo.", ">= 4"),
    Figure("ddp_step_200mbit_fp16_vs_gloo", "With gradients in 16 bits it is {:.2f} times as fast as with gloo."),
    Figure("ddp_step_cpu_vs_gloo", "Over links without a limit, where CPUs are the limit, a step of DDP is {:.2f} times as fast as with gloo."),
    Figure("ddp_bus_share_200mbit", "From a step's first bucket on, over links of 200 Mbit/s, gradients get {:.1%} of what framing leaves of the link.", ">= 0.95"),
    Figure("ddp_wire_share_200mbit", "In the whole step, with the computing before, it is {:.1%}.", first_screen=False),
    Figure("python_call_1m_vs_c", "An allreduce of 1 MiB from Python takes {:.2f} times as long as from C.", "<= 1.05"),
    Figure("python_call_8_us", "An allreduce of 8 bytes from Python takes {:.0f} us.", first_screen=False),
    Figure("python_call_8_more_us", "That is {:.0f} us more than from C.", first_screen=False),
    Figure("nccl_plugin_vs_libswagg", "An allreduce of 4 MiB by NCCL's plugin is {:.2f} times as fast as by libswagg.", ">= 0.95", first_screen=False),
    Figure("nccl_plugin_allgather_vs_libswagg", "An all-gather of 4 MiB by NCCL's plugin is {:.2f} times as fast as by libswagg.", first_screen=False),
    Figure("nccl_plugin_reduce_scatter_vs_libswagg", "A reduce-scatter of 4 MiB by NCCL's plugin is {:.2f} times as fast as by libswagg.", first_screen=False),
)
# Of a frame of 1,514 bytes and what is between two (preamble, check sequence, gap: not counted by the limit of a veth) 1,460 are numbers.
FRAMING = 1460 / 1514
RATE = 200e6 / 8


def steps(directory):
    return {key: group for key, group in records.reports(directory).items() if key[0] in LINKS}


def seconds(group):
    return [median(row["step_s"]) for row in group]


def wire_share(group, seconds):
    """Of what framing leaves of a link, what gradients got in the median of these seconds of each run."""
    return [row["gradient_bytes"] / median(row[seconds]) / RATE / FRAMING for row in group]


def call_us(directory, language, size):
    """The mean of each run, over its turns."""
    turns = {}

    def us(report):
        return report["call_us"][str(size)] if language == "python" else next(row["mean_us"] for row in report if row["bytes"] == size)
    for (what, *way), runs in records.reports(directory).items():
        if what == "calls":
            turns.setdefault(way[0], []).append(runs)
    return [mean(map(us, run)) for run in zip(*turns[language])]


def by_plugin(directory, what):
    """How many times as fast as libswagg, by the medians of each run."""
    runs = records.reports(directory)["nccl",]
    return [median(run[f"{what}_libswagg_s"]) / median(run[f"{what}_table_s"]) for run in runs]


def ways(directory):
    rows = steps(directory)

    def ratio(links, way):
        return records.ratios(seconds(rows[links, "gloo"]), seconds(rows[links, way]))

    in_c, in_python = partial(call_us, directory, "c"), partial(call_us, directory, "python")
    return {"ddp_step_200mbit_vs_gloo": partial(ratio, "200mbit", "swagg"), "ddp_step_200mbit_thc_vs_gloo": partial(ratio, "200mbit", "swagg+thc_hook"),
            "ddp_step_200mbit_fp16_vs_gloo": partial(ratio, "200mbit", "swagg+fp16_hook"), "ddp_step_cpu_vs_gloo": partial(ratio, "none", "swagg"),
            "ddp_bus_share_200mbit": lambda: wire_share(rows["200mbit", "swagg"], "sums_s"),
            "ddp_wire_share_200mbit": lambda: wire_share(rows["200mbit", "swagg"], "step_s"),
            "python_call_1m_vs_c": lambda: records.ratios(in_python(1 << 20), in_c(1 << 20)), "python_call_8_us": lambda: in_python(8),
            "python_call_8_more_us": lambda: [python - c for python, c in zip(in_python(8), in_c(8))],
            "nccl_plugin_vs_libswagg": lambda: by_plugin(directory, "allreduce"), "nccl_plugin_allgather_vs_libswagg": lambda: by_plugin(directory, "allgather"),
            "nccl_plugin_reduce_scatter_vs_libswagg": lambda: by_plugin(directory, "reduce_scatter")}


def collect(directory):
    return {"steps": [{"links": links, "way": way, "seconds": seconds(group)} for (links, way), group in sorted(steps(directory).items())]}


def answer(data):
    figures = data["figures"]
    return (f"Over links of 200 Mbit/s a step with 25 MB of gradients is {Sample(figures['ddp_step_200mbit_vs_gloo']).median:.2f} times as fast as with gloo, and in 4 bits "
            f"{Sample(figures['ddp_step_200mbit_thc_vs_gloo']).median:.2f} times. Without a limit, where four hosts and the switch share the machine's CPUs, "
            f"{Sample(figures['ddp_step_cpu_vs_gloo']).median:.2f} times. One line of a script changes: [PyTorch](../pytorch.md).")


def step_table(data):
    rows = [(LINKS[row["links"]], WAYS[row["way"]], f"{1e3 * Sample(row['seconds']).median:.0f}",
             f"{1e3 * min(row['seconds']):.0f} .. {1e3 * max(row['seconds']):.0f}") for row in data["steps"]]
    return table(("links", "way", "a step (ms)", "lowest .. highest run"), rows, "llrr")


def pages(data):
    return {"pytorch": "\n\n".join([answer(data), "![How fast a step is beside gloo's](pytorch.svg)", figure_table(FIGURES, data), step_table(data),
                                    "## How it is measured", READING.strip()])}


def plots(data):
    rows = [(f"{LINKS[row['links']]}, {WAYS[row['way']].replace('`', '')}", Sample(row["seconds"]), "peer" if row["way"] == "gloo" else "ours") for row in data["steps"]]
    return {"pytorch": bars("A step of DDP with 25 MB of gradients", [Panel("Time of a step", "s: less is better", rows=rows, digits=2)])}
