"""Sums compressed to a few bits: what thc.sh measured."""
import sys

import records
from figures import Figure, Sample, figure_table, table
from plot import Panel, lines

SLOW = "Over links of 100 Mbit/s"
STEPS = ("transform", "quantise_and_pack", "subtract", "transform_back", "look_up_and_add_8", "look_up_and_add_16", "decode_8", "decode_16",
         "memcpy")
ACCURACY = 0.96
FIGURES = (
    Figure("thc_nmse_b4_n4", "The mean of four ranks' vector errs by {:.4f} of its square with 4 bits a number."),
    Figure("thc_vs_terngrad_nmse", "The error is {:.0f} times less than TernGrad's.", ">= 5"),
    Figure("thc_wire_bytes_up", "A rank sends {:.4f} of the bytes that floats take, headers included.", "<= 0.129"),
    Figure("thc_wire_bytes_down", "It receives {:.4f} of them.", "<= 0.258"),
    Figure("thc_vs_float_tat", f"{SLOW} an allreduce of 20 MiB is {{:.2f}} times as fast as that of floats.", ">= 3.2"),
    Figure("thc_ps_vs_float_ps", f"{SLOW} a server's sum of 8 MiB is {{:.2f}} times as fast as its sum of floats.", ">= 3"),
    Figure("thc_vs_best", f"{SLOW} it is {{:.2f}} times as fast as the best of Open MPI's."),
    Figure("thc_vs_openmpi", f"{SLOW} it is {{:.2f}} times as fast as what Open MPI chooses.", first_screen=False),
    Figure("thc_steps_inflation", f"{SLOW} four ranks take {{:.2f}} times as many epochs as with sums of floats until they know 96 of 100 digits.", "<= 1.05"),
    Figure("thc_time_to_accuracy_speedup", "They get there {:.2f} times as fast.", ">= 1.5"),
    Figure("thc_cpu_vs_float", "Over links without a limit an allreduce of 16 MiB is {:.2f} times as fast as that of floats.",
           first_screen=False),
)

READING = """
Error: `bench-thc`, without a network. All workers have the same vector of 131,072 normal numbers; the square of the error of the mean is
taken by the square of that vector (NMSE). THC as libswagg does it: blocks of 4,096, granularity 30, no error feedback. Uniform: the
same with evenly spaced values (algorithm 1 of the paper). TernGrad: each number is 0 or the largest of all with its sign, at random. TopK: the largest
tenth of the numbers, exactly, and nothing of the rest. What is clamped does not average out, so with many workers a
smaller part should be; with few bits a larger part.

Time: four hosts, one rank each, MTU 1500, segmentation offloads off, `swagg-perf` without MPI; bytes are those of rank 0's port while it ran, whole
Ethernet frames without their checksum. Open MPI 4.1 (`pml ob1`, `btl tcp`) goes over a Linux bridge between the same hosts with the same
limits: what it chooses itself, and the best of ring, segmented ring and Rabenseifner's. Behind that
bridge is the server, too: `swagg-ps` on a fifth host with a link of the same rate, through which all ranks' packets go. All take turns
in every run, and a ratio is taken within each run.

Training: `train-digits`, the program of `script/demo`, on the same hosts and links: gradients of 150 KiB, one a step, the same start and the same order
of images every time. Through the shim, with `SWAGG_COMPRESSION=thc` or without; and with Open MPI alone, through the same switch.

CPU: each step over 32,768 floats in blocks of 4,096, which stay in the L2 cache. A rank takes *transform*, *quantise and pack*, *subtract*, both ways of
*transform back* and *decode*; the switch takes *look up and add* for each rank.
"""


def check_sums(reports):
    for key, runs in reports.items():
        for rows in (run["perf"] if isinstance(run, dict) and "perf" in run else run for run in runs):
            for row in (row for row in rows if isinstance(row, dict) and row.get("wrong")):
                sys.exit(f"{','.join(key)}: {row['wrong']} wrong sums")


def taken(reports, links, way):
    return [run["perf"][0]["mean_us"] for run in reports[links, way]]


def carried(reports, way, direction):
    return [run[direction] for run in reports["100mbit", way]]


def openmpi(reports):
    """{algorithm: seconds, run by run}"""
    return {key[1]: [rows[0]["median_us"] for rows in runs] for key, runs in reports.items() if key[2:] == ("allreduce",)}


def until(epochs):
    """How many epochs, and milliseconds, it took to reach the accuracy."""
    ms = 0
    for row in epochs:
        ms += row["ms"]
        if row["accuracy"] >= ACCURACY:
            return row["epoch"], ms
    sys.exit(f"no accuracy of {ACCURACY} after {len(epochs)} epochs")


def trained(reports):
    """{way: [(epochs, milliseconds), run by run]}"""
    return {key[1]: [until(epochs) for epochs in runs] for key, runs in reports.items() if key[0] == "train"}


def error(run, bits, one_in, workers):
    return next(row for row in run["errors"] if (row["bits"], row["one_in"], row["workers"]) == (bits, one_in, workers))


def other(run, workers):
    return next(row for row in run["others"] if row["workers"] == workers)


def collect(directory):
    reports = records.reports(directory)
    check_sums(reports)
    alone = reports["alone",]
    by_algorithm = openmpi(reports)
    thc = taken(reports, "100mbit", "thc")
    best = [min(times) for times in zip(*by_algorithm.values())]
    mine = [error(run, 4, 32, 4)["thc"] for run in alone]
    found = {
        "thc_nmse_b4_n4": mine,
        "thc_vs_terngrad_nmse": records.ratios([other(run, 4)["terngrad"] for run in alone], mine),
        "thc_wire_bytes_up": records.ratios(carried(reports, "thc", "sent"), carried(reports, "none", "sent")),
        "thc_wire_bytes_down": records.ratios(carried(reports, "thc", "received"), carried(reports, "none", "received")),
        "thc_vs_float_tat": records.ratios(taken(reports, "100mbit", "none"), thc),
        "thc_ps_vs_float_ps": records.ratios(taken(reports, "server", "none"), taken(reports, "server", "thc")),
        "thc_vs_best": records.ratios(best, thc),
        "thc_vs_openmpi": records.ratios(by_algorithm["chosen"], thc),
        "thc_cpu_vs_float": records.ratios(taken(reports, "none", "none"), taken(reports, "none", "thc")),
    }
    ways = trained(reports)
    for part, name in enumerate(("thc_steps_inflation", "thc_time_to_accuracy_speedup")):
        values = {way: [run[part] for run in runs] for way, runs in ways.items()}
        found[name] = records.ratios(values["thc"], values["float"]) if part == 0 else records.ratios(values["float"], values["thc"])
    found |= {f"thc_{step}_ns_a_float": [run["ns"][step] for run in alone] for step in STEPS}
    return {"measured": records.measured(len(thc)), "figures": found, "kernels": alone[0]["kernels"], "errors": alone[0]["errors"],
            "others": alone[0]["others"],
            "training": {way: {"epochs": [run[0] for run in runs], "ms": [run[1] for run in runs]} for way, runs in ways.items()},
            "seconds": {"compressed": [us / 1e6 for us in thc], "float": [us / 1e6 for us in taken(reports, "100mbit", "none")],
                        **{f"Open MPI, {name}": [us / 1e6 for us in times] for name, times in by_algorithm.items()}}}


# --- pages ----------------------------------------------------------------------------------------------------------

def errors_table(data):
    workers = sorted({row["workers"] for row in data["errors"]})
    ways = dict.fromkeys((row["bits"], row["one_in"]) for row in data["errors"])
    rows = [(f"THC, {bits} bits, one in {one_in} clamped", *(f"{error(data, bits, one_in, n)['thc']:.4g}" for n in workers))
            for bits, one_in in ways]
    rows += [(f"uniform, {bits} bits, one in {one_in} clamped", *(f"{error(data, bits, one_in, n)['uniform']:.4g}" for n in workers))
             for bits, one_in in ways if one_in == 32]
    rows += [(words, *(f"{other(data, n)[name]:.4g}" for n in workers)) for name, words in (("terngrad", "TernGrad"), ("topk", "TopK, a tenth"))]
    return table(("NMSE by number of workers", *map(str, workers)), rows)


def steps_table(data):
    return table(("step", "ns a float"), [(step.replace("_", " "), f"{Sample(data['figures'][f'thc_{step}_ns_a_float']).median:.3f}")
                                          for step in STEPS])


def seconds_table(data):
    return table(("allreduce of 20 MiB, 100 Mbit/s", "seconds"), [(way, Sample(times).spread()) for way, times in data["seconds"].items()])


def training_table(data):
    names = {"openmpi": "Open MPI", "float": "swagg, floats", "thc": "swagg, compressed"}
    return table((f"training to an accuracy of {ACCURACY}, 100 Mbit/s", "epochs", "seconds"),
                 [(names[way], Sample(row["epochs"]).spread(0), Sample([ms / 1e3 for ms in row["ms"]]).spread())
                  for way, row in data["training"].items()])


def pages(data):
    found = data["figures"]
    answer = (f"{SLOW} a sum in 4 bits a number is {Sample(found['thc_vs_float_tat']).median:.2f} times as fast as one of floats, and "
              f"{Sample(found['thc_vs_best']).median:.2f} times as fast as the best that Open MPI has. Four ranks' mean errs by "
              f"{Sample(found['thc_nmse_b4_n4']).median:.2%} of its square.")
    return {"thc": "\n\n".join([answer, "![Error by the number of workers](thc.svg)", figure_table(FIGURES, data), seconds_table(data), training_table(data),
                                "The error of the mean:", errors_table(data), f"The steps ({data['kernels']}), beside memcpy of the same "
                                "floats:", steps_table(data), "## How it is measured", READING.strip()])}


def plots(data):
    workers = sorted({row["workers"] for row in data["errors"]})
    series = [(f"{bits} bits", kind, [(n, Sample(error(data, bits, 32, n)["thc"])) for n in workers])
              for bits, kind in ((4, "ours"), (3, "second"))]
    series.append(("TernGrad", "peer", [(n, Sample(other(data, n)["terngrad"])) for n in workers]))
    return {"thc": lines("Error by the number of workers", [
        Panel("Mean of the same vector on all workers", "square of the error, by that of the vector: less is better", series=series,
              x_ticks=[(n, str(n)) for n in workers], x_unit="workers", log=True, ranges=False)])}
