"""Broadcast, all-gather, reduce-scatter and barrier beside Open MPI's best; calls that are posted, and go on while the program computes: what collectives.sh measured."""
from functools import partial
from statistics import median

import best
import records
import rooms
from allreduce import FRAMING, RATE
from figures import Figure, Sample, figure_table, table

MEASURES = rooms.MPI  # rooms.py

READING = """
Four hosts, one rank each, on veths; MTU 1500, segmentation offloads off; swagg is the hosts' only switch, and hosts and switch share this machine's CPUs. A run's figure is of
the medians of its rounds.

**Beside Open MPI's best**: native Open MPI 4.1 over a Linux bridge between the same hosts. Its algorithms are tried, each told to `coll_tuned`, the fastest two once more, and the
fastest of these is measured in every run; where what Open MPI chooses by itself is faster, that is the best. 4 MiB of floats, in an all-gather and a reduce-scatter in all four blocks; calls to the switch through the preload (`SWAGG_MIN_BYTES=0`). A time is the slowest rank's,
from where they have met by messages; of barriers it is the median of 1000, after 400 ms of them. *Of the wire*: the time in which a link of 200 Mbit/s carries what the fullest of them must, over the call's. That is all 4 MiB in a broadcast, and in an all-gather
and a reduce-scatter the blocks of the three others; in frames as an allreduce has them ([allreduce.md](allreduce.md)).

**Of all sizes**: swagg [beside](../topologies.md#beside-the-kernels-bridge) a bridge of the kernel's, links without a limit; programs through the preload as it is by default, which
chooses between switch and library. In turns of eight calls the same processes call Open MPI's own functions, past the preload. Ranks begin each call together, by messages: how they leave a
barrier depends on who made it. A time is the slowest rank's, the median of 200 calls up to 64 KiB and of 64 beyond, after 400 ms of calls in which
it finds out which is faster; twice in each run, with new processes. What compares worst is the least of the medians of the ratios.

**Posted calls** are allreduces of floats, by libswagg. Each time is from a barrier to the slowest rank's end. *Hidden* is the share of a call's time that a program does not notice which posts the call,
computes for 1.2 times as long, and waits for it: (call + computing - both) / call. The job has a progress thread. *Elsewhere*: the hosts' CPUs have nothing else to do meanwhile, as where a GPU
computes; the rank sleeps. *On the same CPUs*: all four ranks compute on the CPUs that they share with the switch, so what the call itself takes of them cannot be hidden. *By hosts first*: two ranks
on each host, which sum there before ([ranks of one host](../libswagg.md#ranks-of-one-host)), beside eight ranks that each send for themselves.

**The component beside the preload**: allreduces of MPI programs, over links without a limit. In each run they take five turns, each with new processes.
"""
LINKS = {"200mbit": "200 Mbit/s", "none": "no limit"}
OPS = {"bcast": ("a broadcast", 1), "allgather": ("an all-gather", 0.75), "reduce_scatter": ("a reduce-scatter", 0.75)}  # what the fullest link carries of all bytes
VARIANTS = {"openmpi": "Open MPI, as it chooses", "best": "Open MPI, the best that was tried", "swagg": "swagg"}
SIZES = {"8": "8 bytes", "4K": "4 KiB", "256K": "256 KiB", "4M": "4 MiB"}
WHATS = {"call": "a call of 16 MiB", "asleep": "computing elsewhere", "asleep_both": "both", "busy": "computing on the same CPUs", "busy_both": "both",
         "one": "a call of 2 MiB", "eight": "eight calls of 256 KiB, posted"}
FASTER = "{:.2f} times as fast as Open MPI's best"
FIGURES = (
    *(Figure(f"{op}_200mbit_vs_best", f"Over links of 200 Mbit/s {name} of 4 MiB is {FASTER}.", ">= 1.0") for op, (name, _) in OPS.items()),
    *(Figure(f"{op}_200mbit_wire_share", f"It uses {{:.1%}} of the wire: {name}.", first_screen=False) for op, (name, _) in OPS.items()),
    *(Figure(f"{op}_cpu_vs_best", f"Over links without a limit {name} of 4 MiB is {FASTER}.", first_screen=False) for op, (name, _) in OPS.items()),
    Figure("barrier_vs_openmpi", "Over links of 200 Mbit/s a barrier is {:.2f} times as fast as Open MPI's.", ">= 1.3"),
    Figure("barrier_200mbit_vs_best", f"It is {FASTER}.", first_screen=False),
    Figure("barrier_cpu_vs_best", f"Over links without a limit a barrier is {FASTER}.", first_screen=False),
    Figure("overlap", "Over links of 200 Mbit/s {:.1%} of an allreduce of 16 MiB that is posted is hidden behind computing elsewhere.", ">= 0.9"),
    Figure("overlap_same_cpus", "Over links of 200 Mbit/s {:.1%} of it is hidden behind computing on the CPUs that four hosts and the switch share.", first_screen=False),
    Figure("overlap_cpu", "Over links without a limit {:.1%} of it is hidden behind computing elsewhere.", first_screen=False),
    Figure("eight_in_flight", "Over links of 200 Mbit/s eight posted calls of 256 KiB have {:.2f} times the goodput of one of 2 MiB.", ">= 0.9"),
    Figure("eight_in_flight_cpu", "Over links without a limit eight posted calls of 256 KiB have {:.2f} times the goodput of one of 2 MiB.", first_screen=False),
    Figure("sixteen_by_hosts_vs_flat", "Sixteen posted calls of 8 bytes, two ranks a host, are {:.2f} times as fast by hosts first as flat.", first_screen=False),
    Figure("worst_size_of_all_beside_bridge_vs_openmpi",
           "With swagg beside a bridge, of broadcasts, all-gathers and reduce-scatters of 16 bytes to 4 MiB, and barriers, what compares worst is {:.2f} times as fast as Open MPI's.",
           ">= 0.95"),
    *(Figure(f"component_vs_shim_{size}", f"An allreduce of {words} is {{:.2f}} times as fast through the component as through the preload.", first_screen=False)
      for size, words in SIZES.items()),
)


def seconds_of(reports):
    """{(links, variant, op): [seconds of mpi-perf, one a run]}"""
    return {key: [content[0]["median_us"] / 1e6 for content in group] for key, group in reports.items() if len(key) == 3 and key[2] != "small"}


def fronts_of(reports):
    """{FRONT_SIZE: [seconds, one a turn]}"""
    found = {}
    for (_, variant, _, op), group in sorted(row for row in reports.items() if len(row[0]) == 4):
        if op == "allreduce":
            found.setdefault(variant, []).extend(content[0]["median_us"] / 1e6 for content in group)
    return found


def posted(reports):
    """{links: [{what: seconds}, one a run]}"""
    return {key[0]: [{what: median(row[f"{what}_s"]) for what in WHATS} for row in group]
            for key, group in reports.items() if key[-1] == "posted"}


def sizes_of(reports):
    """[{op, bytes, microseconds of Open MPI's own and of the shim's, turn by turn}]"""
    found = []
    for op in (*OPS, "barrier"):
        by_size = {}
        for group in (group for key, group in reports.items() if len(key) == 4 and key[3] == op):
            for row in (row for rows in group for row in rows):
                times = by_size.setdefault(row["bytes"], {"native": [], "beside": []})
                times["native"].append(row["library_us"])
                times["beside"].append(row["median_us"])
        found += [{"op": op, "bytes": size, **times} for size, times in sorted(by_size.items())]
    return found


def speed(row):
    return Sample(records.ratios(row["native"], row["beside"])).median


def ways(directory):
    reports = records.reports(directory)
    seconds, runs, turns = seconds_of(reports), posted(reports), fronts_of(reports)

    def faster(links, op, over, under="swagg"):
        return records.ratios(best.least(over, lambda way: seconds[links, way, op]), seconds[links, under, op])

    def wire(op):
        return [OPS[op][1] * (4 << 20) * 8 / (RATE * FRAMING) / taken for taken in seconds["200mbit", "swagg", op]]

    def fronts(size):
        return records.ratios(*(turns[f"{front}_{size}"] for front in ("preload", "component")))

    def hidden(links, computing):
        return [(s["call"] + s[computing] - s[f"{computing}_both"]) / s["call"] for s in runs[links]]

    def in_flight(links):
        return [s["one"] / s["eight"] for s in runs[links]]

    def sixteen():
        flat, level = ([median(row["sixteen_s"]) for row in reports["none", way, "small"]] for way in ("flat", "level"))
        return records.ratios(flat, level)

    return {**{f"{op}_200mbit_vs_best": partial(faster, "200mbit", op, "best") for op in (*OPS, "barrier")},
            **{f"{op}_200mbit_wire_share": partial(wire, op) for op in OPS},
            **{f"{op}_cpu_vs_best": partial(faster, "none", op, "best") for op in (*OPS, "barrier")},
            "worst_size_of_all_beside_bridge_vs_openmpi": lambda: min(map(speed, sizes_of(reports))),
            "barrier_vs_openmpi": partial(faster, "200mbit", "barrier", "openmpi"),
            "overlap": partial(hidden, "200mbit", "asleep"), "overlap_same_cpus": partial(hidden, "200mbit", "busy"), "overlap_cpu": partial(hidden, "none", "asleep"),
            "eight_in_flight": partial(in_flight, "200mbit"), "eight_in_flight_cpu": partial(in_flight, "none"), "sixteen_by_hosts_vs_flat": sixteen,
            **{f"component_vs_shim_{size}": partial(fronts, size) for size in SIZES}}


def collect(directory):
    reports = records.reports(directory)
    beside = [{"links": links, "op": op, "variant": variant, "seconds": taken}
              for (links, variant, op), taken in sorted(seconds_of(reports).items(), key=lambda item: (item[0][0], item[0][2])) if variant in VARIANTS]
    times = [{"links": links, "what": what, "seconds": [s[what] for s in group]} for links, group in sorted(posted(reports).items()) for what in WHATS]
    return {"beside": beside, "posted": times, "sizes": sizes_of(reports), "tried": best.candidates_of(reports)}


def answer(data):
    value = {figure.name: figure.sample(data).median for figure in FIGURES}
    times = ", ".join(f"{name} {value[f'{op}_200mbit_vs_best']:.2f} times" for op, (name, _) in OPS.items())
    return (f"Over links of 200 Mbit/s of 4 MiB, {times} as fast as Open MPI's best; a barrier {value['barrier_vs_openmpi']:.2f} times as fast as Open MPI's. "
            f"{value['overlap']:.0%} of an allreduce of 16 MiB is hidden behind computing elsewhere, and eight posted calls of 256 KiB "
            f"have {value['eight_in_flight']:.2f} times the goodput of one of 2 MiB ([posted calls](../libswagg.md#posted-calls)).")


def beside_table(data):
    rows = [(LINKS[row["links"]], OPS.get(row["op"], (row["op"],))[0].split()[-1], VARIANTS[row["variant"]], f"{1e3 * Sample(row['seconds']).median:.3f}") for row in data["beside"]]
    return table(("links", "what", "by", "time (ms)"), rows, "lllr")


def posted_table(data):
    rows = [(LINKS[row["links"]], WHATS[row["what"]], f"{1e3 * Sample(row['seconds']).median:.1f}") for row in data["posted"]]
    return table(("links", "what", "time (ms)"), rows, "llr")


def sizes_table(data):
    rows = [(OPS.get(row["op"], (row["op"],))[0].split()[-1], "-" if row["op"] == "barrier" else row["bytes"], *(f"{Sample(row[place]).median:.1f}" for place in ("native", "beside")),
             f"{speed(row):.2f}") for row in data["sizes"]]
    return table(("what", "bytes", "Open MPI (us)", "swagg beside a bridge (us)", "times as fast"), rows, "lrrrr")


def pages(data):
    return {"collectives": "\n\n".join([answer(data), figure_table(FIGURES, data), beside_table(data), sizes_table(data), posted_table(data), "## How it is measured", READING.strip(),
                                        "## What was tried to find Open MPI's best", best.tried_table(data["tried"], LINKS)])}


def plots(data):
    return {}
