"""Sums compressed to a few bits: what thc.sh measured."""
import os
from functools import partial

import records
import rooms
import thc_training
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars, lines
from thc_training import SLOW

MEASURES = (*rooms.MPI, "lib/core/thc", "server", "bench/thc.c", "bench/thc_errors.c", "bench/train.c")  # rooms.py

STEPS = ("transform", "quantise_and_pack", "subtract", "transform_back", "look_up_and_add_8", "look_up_and_add_16", "decode_8", "decode_16",
         "memcpy")
RANKS, FLOATS = 4, 16 << 18  # of the allreduce over links without a limit
RANK_STEPS = ("transform", "quantise_and_pack", "subtract", "transform_back", "decode_8", "transform_back")
OTHERS = {"terngrad": "TernGrad, clipped at 2.5 σ", "terngrad_unclipped": "TernGrad, not clipped", "topk": "TopK, a tenth"}
ALGORITHMS = {"4": "ring", "5": "segmented ring", "6": "Rabenseifner's", "chosen": "what it chooses"}  # of Open MPI, by its numbers
# What a rank sends at least, of the bytes that floats take: a packet has as many numbers as its result has room for, in groups of 64, a byte
# each, and goes up with half of the bytes; the call before has a float for each block of 4,096.
OVERHEAD, NUMBERS, FLOATS_A_FRAME = 14 + 20 + 8 + 10, 1462 // 64 * 64, 365
A_FLOAT = (4 * FLOATS_A_FRAME + OVERHEAD) / FLOATS_A_FRAME
UP_BOUND = ((NUMBERS / 2 + OVERHEAD) / NUMBERS + A_FLOAT / 4096) / A_FLOAT
FIGURES = (
    Figure("thc_nmse_b4_n4", "The mean of four ranks' vector errs by {:.4f} of its square with 4 bits a number."),
    Figure("thc_vs_terngrad_nmse", "The error of four ranks' mean, of normal numbers, is {:.0f} times less than TernGrad's.", ">= 5"),
    Figure("thc_gradients_vs_terngrad_nmse", "Of four workers' gradients in a training the error is {:.0f} times less than TernGrad's.", ">= 5"),
    Figure("thc_vs_topk_nmse", "Of normal numbers the error is {:.1f} times less than that of TopK, which sends a tenth.", ">= 1"),
    Figure("thc_gradients_vs_topk_nmse", "Of gradients the error is {:.1f} times less than that of TopK, which sends a tenth.", ">= 1"),
    Figure("thc_vs_terngrad_unclipped_nmse", "Of normal numbers it is {:.0f} times less than that of TernGrad without its clipping.", first_screen=False),
    Figure("thc_gradients_vs_terngrad_unclipped_nmse", "Of gradients it is {:.0f} times less than that of TernGrad without its clipping.", first_screen=False),
    Figure("thc_wire_bytes_up_of_bound", "A rank sends as little as {:.1%} of what framing leaves: 1 would be no byte but that.", ">= 0.97"),
    Figure("thc_wire_bytes_up", "A rank sends {:.4f} of the bytes that floats take, headers included."),
    Figure("thc_wire_bytes_down", "A rank receives {:.4f} of the bytes that floats take, headers included.", "<= 0.258"),
    Figure("thc_vs_float_tat", f"{SLOW} an allreduce of 20 MiB in 4 bits is {{:.2f}} times as fast as that of floats.", ">= 3.2"),
    Figure("thc_vs_fp16_tat", f"{SLOW} an allreduce of 20 MiB in 4 bits is {{:.2f}} times as fast as that of floats that travel in 16 bits."),
    Figure("thc_ps_vs_float_ps", f"{SLOW} a server's sum of 8 MiB is {{:.2f}} times as fast as its sum of floats.", ">= 3"),
    Figure("thc_vs_best", f"{SLOW} an allreduce of 20 MiB in 4 bits is {{:.2f}} times as fast as the best of Open MPI's."),
    Figure("thc_vs_openmpi", f"{SLOW} an allreduce of 20 MiB in 4 bits is {{:.2f}} times as fast as what Open MPI chooses.", first_screen=False),
    *thc_training.FIGURES,
    Figure("thc_cpu_vs_float", "Over links without a limit an allreduce of 16 MiB in 4 bits is {:.2f} times as fast as that of floats."),
    Figure("thc_cpu_computing", "Over links without a limit {:.2f} of the time is the ranks' compressing and decoding, on all CPUs; the rest is packets.",
           first_screen=False),
)

READING = f"""
Error: `bench-thc`, without a network. All workers have the same vector of 131,072 normal numbers; the square of the error of the mean is
taken by the square of that vector (NMSE). THC as libswagg does it: blocks of 4,096, granularity 30, no error feedback. Uniform: the
same with evenly spaced values (algorithm 1 of the paper). TernGrad: each number is 0 or the largest of all with its sign, at random; before that a
worker's numbers are clipped at 2.5 times their standard deviation, as its authors do. It sends 2 bits a number, THC 4. TopK: the largest tenth of each
worker's numbers, exactly, and nothing of the rest, some 6 bits a number with their places. What is clamped does not average out, so with many workers a
smaller part should be; with few bits a larger part. Of gradients each worker has its own: 64 workers' of one step of the language model below, after
40 steps, each from 16 characters, the last 131,072 numbers of each. They have less in common than normal vectors that are all the same, so their mean is
smaller than they are, and the error, by its square, larger.

Time: four hosts, one rank each, MTU 1500, segmentation offloads off, `swagg-perf` without MPI; bytes are those that the rate limit of rank 0's link counted while it ran, whole
Ethernet frames without their checksum. (A veth's own counters lack 14 bytes of each frame that its peer merges with others.)
What framing leaves: a sum in 8 bits comes back in a packet as long as the MTU allows, 1,408 numbers in a frame of 1,460 bytes, so as many numbers go up in a frame of
756; with the norms of their blocks these are {UP_BOUND:.4f} of what floats take, 365 in a frame of 1,512. Less than that no rank can send at an MTU of 1,500. Open MPI 4.1 (`pml ob1`, `btl tcp`) goes over a Linux bridge between the same hosts with the same
limits: what it chooses itself, and the best of ring, segmented ring and Rabenseifner's. Behind that
bridge is the server, too: `swagg-ps` on a fifth host with a link of the same rate, through which all ranks' packets go. All take turns
in every run, and a ratio is taken within each run.

CPU: each step over 32,768 floats in blocks of 4,096, which stay in the L2 cache. A rank takes *transform*, *quantise and pack*, *subtract*, both ways of
*transform back* and *decode*; the switch takes *look up and add* for each rank.
"""


def taken(reports, links, way):
    return [run["perf"][0]["mean_us"] for run in reports[links, way]]


def carried(reports, way, direction):
    return [run[direction] for run in reports["100mbit", way]]


def openmpi(reports):
    """{algorithm: seconds, run by run}"""
    return {key[1]: [rows[0]["median_us"] for rows in runs] for key, runs in reports.items() if key[2:] == ("allreduce",)}


def error(run, bits, one_in, workers, what=""):
    return next(row for row in run[what + "errors"] if (row["bits"], row["one_in"], row["workers"]) == (bits, one_in, workers))


def other(run, workers, what=""):
    return next(row for row in run[what + "others"] if row["workers"] == workers)


def computing(reports):
    """The ranks' part of the time over links without a limit, on all CPUs."""
    cpus = len(os.sched_getaffinity(0))
    return [RANKS * FLOATS * sum(run["ns"][step] for step in RANK_STEPS) / 1e3 / cpus / us
            for run, us in zip(reports["alone",], taken(reports, "none", "thc"))]


def ways(directory):
    reports = records.reports(directory)
    by_algorithm = openmpi(reports)

    def errors(way, what=""):
        return [way(run, what) for run in reports["alone",]]

    def mine(run, what=""):
        return error(run, 4, 32, 4, what)["thc"]

    def beside(other_way):
        return lambda run, what: other(run, 4, what)[other_way] / mine(run, what)

    def speedup(links):
        return records.ratios(taken(reports, links, "none"), taken(reports, links, "thc"))

    def wire(direction):
        return records.ratios(*(carried(reports, way, direction) for way in ("thc", "none")))

    return {
        "thc_nmse_b4_n4": lambda: errors(mine),
        **{f"thc_{kind}vs_{name}_nmse": partial(errors, beside(name), what) for kind, what in (("", ""), ("gradients_", "gradient_"))
           for name in OTHERS},
        "thc_wire_bytes_up_of_bound": lambda: [UP_BOUND / share for share in wire("sent")],
        "thc_wire_bytes_up": lambda: wire("sent"),
        "thc_wire_bytes_down": lambda: wire("received"),
        "thc_vs_float_tat": lambda: speedup("100mbit"),
        "thc_vs_fp16_tat": lambda: records.ratios(taken(reports, "100mbit", "fp16"), taken(reports, "100mbit", "thc")),
        "thc_ps_vs_float_ps": lambda: speedup("server"),
        "thc_vs_best": lambda: records.ratios([min(times) for times in zip(*by_algorithm.values())], taken(reports, "100mbit", "thc")),
        "thc_vs_openmpi": lambda: records.ratios(by_algorithm["chosen"], taken(reports, "100mbit", "thc")),
        "thc_cpu_vs_float": lambda: speedup("none"),
        **thc_training.ways(reports),
        **{f"thc_{step}_ns_a_float": lambda step=step: [run["ns"][step] for run in reports["alone",]] for step in STEPS},
        "thc_cpu_computing": lambda: computing(reports),
    }


def collect(directory):
    reports = records.reports(directory)
    alone = reports["alone",]
    by_algorithm = openmpi(reports)
    thc = taken(reports, "100mbit", "thc")
    return {"kernels": alone[0]["kernels"],
            **{name: alone[0][name] for name in ("errors", "others", "gradient_errors", "gradient_others")},
            **thc_training.collect(reports),
            "seconds": {"fp16": [us / 1e6 for us in taken(reports, "100mbit", "fp16")], "compressed": [us / 1e6 for us in thc], "float": [us / 1e6 for us in taken(reports, "100mbit", "none")],
                        **{f"Open MPI, {name}": [us / 1e6 for us in times] for name, times in by_algorithm.items()}}}


# --- pages ----------------------------------------------------------------------------------------------------------

def errors_table(data, what=""):
    workers = sorted({row["workers"] for row in data[what + "errors"]})
    ways = dict.fromkeys((row["bits"], row["one_in"]) for row in data[what + "errors"])
    rows = [(f"THC, {bits} bits, one in {one_in} clamped", *(f"{error(data, bits, one_in, n, what)['thc']:.4g}" for n in workers))
            for bits, one_in in ways]
    rows += [(f"uniform, {bits} bits, one in {one_in} clamped", *(f"{error(data, bits, one_in, n, what)['uniform']:.4g}" for n in workers))
             for bits, one_in in ways if one_in == 32]
    rows += [(words, *(f"{other(data, n, what)[name]:.4g}" for n in workers)) for name, words in OTHERS.items()]
    return table(("NMSE by number of workers", *map(str, workers)), rows)


def steps_table(data):
    return table(("step", "ns a float"), [(step.replace("_", " "), f"{Sample(data['figures'][f'thc_{step}_ns_a_float']).median:.3f}")
                                          for step in STEPS])


def way_words(way):
    return f"Open MPI, {ALGORITHMS[way.removeprefix('Open MPI, ')]}" if way.startswith("Open MPI") else {"compressed": "swagg, compressed", "float": "swagg, floats", "fp16": "swagg, floats in 16 bits"}[way]


def seconds_table(data):
    return table(("allreduce of 20 MiB, 100 Mbit/s", "seconds"), [(way_words(way), Sample(times).spread()) for way, times in data["seconds"].items()])


def pages(data):
    found = data["figures"]
    answer = (f"{SLOW} a sum in 4 bits a number is {Sample(found['thc_vs_float_tat']).median:.2f} times as fast as one of floats, and "
              f"{Sample(found['thc_vs_best']).median:.2f} times as fast as the best that Open MPI has. Four ranks' mean errs by "
              f"{Sample(found['thc_nmse_b4_n4']).median:.2%} of its square; a network that is trained by such sums learns "
              f"{Sample(found['thc_time_to_accuracy_speedup']).median:.1f} times as fast.")
    return {"thc": "\n\n".join([
        answer, "![Seconds that an allreduce takes](thc_time.svg)", "![Error by the number of workers](thc.svg)", figure_table(FIGURES, data), seconds_table(data),
        *thc_training.parts(data), "The error of the mean, of normal numbers:", errors_table(data), "Of gradients:", errors_table(data, "gradient_"),
        f"The steps ({data['kernels']}), beside memcpy of the same floats:", "![Time of each step](thc_steps.svg)", steps_table(data),
        bounds(data), "## How it is measured", READING.strip(), thc_training.READING.strip()])}


def bounds(data):
    """What the speed over links without a limit depends on."""
    found = data["figures"]
    share = Sample(found["thc_cpu_computing"]).median
    cost = sum(Sample(found[f"thc_{step}_ns_a_float"]).median for step in RANK_STEPS)
    return (f"Over links without a limit CPUs are the bound, which ranks and switch share here. Compressed, there are a quarter of the packets and less, but a rank "
            f"computes {cost:.2f} ns a float: {share:.0%} of the time of an allreduce, if all CPUs do nothing else meanwhile. Both together make it "
            f"{Sample(found['thc_cpu_vs_float']).median:.2f} times as fast as that of floats.")


def error_panel(data, what, heading):
    workers = sorted({row["workers"] for row in data[what + "errors"]})
    series = [(f"{bits} bits", kind, [(n, Sample(error(data, bits, 32, n, what)["thc"])) for n in workers])
              for bits, kind in ((4, "ours"), (3, "second"))]
    series += [(OTHERS[name], kind, [(n, Sample(other(data, n, what)[name])) for n in workers]) for name, kind in (("terngrad", "peer"), ("topk", "third"))]
    return Panel(heading, "squared error, by that of the mean", series=series, x_ticks=[(n, str(n)) for n in workers],
                 x_unit="workers", log=True, ranges=False)


def plots(data):
    panels = [error_panel(data, "", "The same normal vector on all"), error_panel(data, "gradient_", "Each worker's own gradient")]
    bars_of_time = [(way_words(way), Sample(times), "ours" if way == "compressed" else "second" if way == "float" else "third" if way == "fp16" else "peer") for way, times in data["seconds"].items()]
    steps = [(step.replace("_", " "), Sample(data["figures"][f"thc_{step}_ns_a_float"]), "peer" if step == "memcpy" else "ours") for step in STEPS]
    return {"thc": lines("Error by the number of workers", panels),
            "thc_time": bars("An allreduce of 20 MiB", [Panel("An allreduce of 20 MiB, links of 100 Mbit/s", "seconds: less is better", bars_of_time)]),
            "thc_steps": bars("Time of each step", [Panel(f"Steps of compressed sums, {data['kernels']}", "ns a float: less is better", steps)]),
            **thc_training.plots(data)}
