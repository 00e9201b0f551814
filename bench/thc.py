"""Sums compressed to a few bits: what thc.sh measured."""
import os
import sys

import records
from figures import Figure, Sample, figure_table, table
from plot import Panel, lines

SLOW = "Over links of 100 Mbit/s"
STEPS = ("transform", "quantise_and_pack", "subtract", "transform_back", "look_up_and_add_8", "look_up_and_add_16", "decode_8", "decode_16",
         "memcpy")
ACCURACY = 0.96
TEXT_ACCURACY = 0.42
RANKS, FLOATS = 4, 16 << 18  # of the allreduce over links without a limit
RANK_STEPS = ("transform", "quantise_and_pack", "subtract", "transform_back", "decode_8", "transform_back")
FIGURES = (
    Figure("thc_nmse_b4_n4", "The mean of four ranks' vector errs by {:.4f} of its square with 4 bits a number."),
    Figure("thc_vs_terngrad_nmse", "The error is {:.0f} times less than TernGrad's.", ">= 5"),
    Figure("thc_gradients_vs_terngrad_nmse", "Of four workers' gradients in a training it is {:.0f} times less.", ">= 5"),
    Figure("thc_wire_bytes_up", "A rank sends {:.4f} of the bytes that floats take, headers included.", "<= 0.129"),
    Figure("thc_wire_bytes_down", "It receives {:.4f} of them.", "<= 0.258"),
    Figure("thc_vs_float_tat", f"{SLOW} an allreduce of 20 MiB is {{:.2f}} times as fast as that of floats.", ">= 3.2"),
    Figure("thc_ps_vs_float_ps", f"{SLOW} a server's sum of 8 MiB is {{:.2f}} times as fast as its sum of floats.", ">= 3"),
    Figure("thc_vs_best", f"{SLOW} it is {{:.2f}} times as fast as the best of Open MPI's."),
    Figure("thc_vs_openmpi", f"{SLOW} it is {{:.2f}} times as fast as what Open MPI chooses.", first_screen=False),
    Figure("thc_steps_inflation", f"{SLOW} four ranks take {{:.2f}} times as many epochs as with sums of floats until they know 96 of 100 digits.", "<= 1.05"),
    Figure("thc_time_to_accuracy_speedup", "They get there {:.2f} times as fast.", ">= 1.5"),
    Figure("thc_text_steps_inflation", f"{SLOW} four ranks take {{:.2f}} times as many epochs until a language model knows 42 of 100 characters.", "<= 1.05"),
    Figure("thc_text_time_to_accuracy_speedup", "They get there {:.2f} times as fast.", ">= 1.5"),
    Figure("thc_many_accuracy", "64 workers in one process know {:.3f} times as many characters at the end as with sums of floats."),
    Figure("thc_loss_1pct_accuracy", "With one packet in 100 lost, and zeros for what does not come, 10 workers know {:.3f} times as many as without loss."),
    Figure("thc_loss_1pct_synchronized_accuracy", "With models that are made the same after each epoch they know {:.3f} times as many."),
    Figure("thc_cpu_vs_float", "Over links without a limit an allreduce of 16 MiB is {:.2f} times as fast as that of floats.",
           first_screen=False),
    Figure("thc_cpu_computing", "So much of its time there is the ranks' compressing and decoding, if all CPUs do nothing else meanwhile: {:.2f}; the rest is packets.",
           first_screen=False),
)

READING = """
Error: `bench-thc`, without a network. All workers have the same vector of 131,072 normal numbers; the square of the error of the mean is
taken by the square of that vector (NMSE). THC as libswagg does it: blocks of 4,096, granularity 30, no error feedback. Uniform: the
same with evenly spaced values (algorithm 1 of the paper). TernGrad: each number is 0 or the largest of all with its sign, at random. TopK: the largest
tenth of each worker's numbers, exactly, and nothing of the rest. What is clamped does not average out, so with many workers a
smaller part should be; with few bits a larger part. Of gradients each worker has its own: 64 workers' of one step of the language model below, after
40 steps, each from 16 characters, the last 131,072 numbers of each. They have less in common than normal vectors that are all the same, so their mean is
smaller than they are, and the error, by its square, larger.

Time: four hosts, one rank each, MTU 1500, segmentation offloads off, `swagg-perf` without MPI; bytes are those of rank 0's port while it ran, whole
Ethernet frames without their checksum. Open MPI 4.1 (`pml ob1`, `btl tcp`) goes over a Linux bridge between the same hosts with the same
limits: what it chooses itself, and the best of ring, segmented ring and Rabenseifner's. Behind that
bridge is the server, too: `swagg-ps` on a fifth host with a link of the same rate, through which all ranks' packets go. All take turns
in every run, and a ratio is taken within each run.

Training: `train-digits`, the program of `script/demo`, on the same hosts and links: gradients of 150 KiB, one a step, the same start and the same order
of images every time. Through the shim, with `SWAGG_COMPRESSION=thc` or without; and with Open MPI alone, through the same switch. `train-text` is larger: a language model of
451,136 parameters (1.8 MB), which learns to tell the next character of Debian's licence texts from the 16 before it; two hidden layers,
batches of 256, 30 steps an epoch, tested on other stretches of the texts. Eight ranks are two on each host.

Training in one process: `bench-train`, the same model, its workers' gradients compressed, summed and decoded by libswagg's and the switch's
own functions. Lost packets as in section 8.3 of the paper: 10 workers, granularity 20, one number in 512 clamped; each packet is lost with the same
probability on its way to the switch and back, nothing is sent again, and what does not come counts as zeros, for the rank that misses a sum, or for all if a contribution is missing.
Then ranks' models differ, unless they take their mean after each epoch. Accuracy is that of the first worker's model after 8 epochs.

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


def until(epochs, accuracy):
    """How many epochs, and milliseconds, it took to reach the accuracy."""
    ms = 0
    for row in epochs:
        ms += row["ms"]
        if row["accuracy"] >= accuracy:
            return row["epoch"], ms
    sys.exit(f"no accuracy of {accuracy} after {len(epochs)} epochs")


def trained(reports, program, accuracy):
    """{(what,) way: {"epochs": run by run, "ms": run by run}}"""
    found = {}
    for key, runs in reports.items():
        if key[0] == program:
            ends = [until(epochs, accuracy) for epochs in runs]
            found[",".join(key[1:])] = {"epochs": [end[0] for end in ends], "ms": [end[1] for end in ends]}
    return found


def speedups(found, names, ways, over, under):
    """Two figures: how many more epochs it takes, and how much less time."""
    found[names[0]] = records.ratios(ways[under]["epochs"], ways[over]["epochs"])
    found[names[1]] = records.ratios(ways[over]["ms"], ways[under]["ms"])


def at_end(reports, *key):
    return reports[key][0]["epochs"][-1]["accuracy"]


def losses(reports):
    """[(probability, synchronized, accuracy, floats missed)]; what no two runs differ in."""
    return [(float(key[1]), bool(key[2]), at_end(reports, *key), runs[0]["missed"]) for key, runs in sorted(reports.items()) if key[0] == "loss"]


def error(run, bits, one_in, workers, what=""):
    return next(row for row in run[what + "errors"] if (row["bits"], row["one_in"], row["workers"]) == (bits, one_in, workers))


def other(run, workers, what=""):
    return next(row for row in run[what + "others"] if row["workers"] == workers)


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
        "thc_gradients_vs_terngrad_nmse": [other(run, 4, "gradient_")["terngrad"] / error(run, 4, 32, 4, "gradient_")["thc"] for run in alone],
        "thc_wire_bytes_up": records.ratios(carried(reports, "thc", "sent"), carried(reports, "none", "sent")),
        "thc_wire_bytes_down": records.ratios(carried(reports, "thc", "received"), carried(reports, "none", "received")),
        "thc_vs_float_tat": records.ratios(taken(reports, "100mbit", "none"), thc),
        "thc_ps_vs_float_ps": records.ratios(taken(reports, "server", "none"), taken(reports, "server", "thc")),
        "thc_vs_best": records.ratios(best, thc),
        "thc_vs_openmpi": records.ratios(by_algorithm["chosen"], thc),
        "thc_cpu_vs_float": records.ratios(taken(reports, "none", "none"), taken(reports, "none", "thc")),
    }
    digits, text = trained(reports, "train", ACCURACY), trained(reports, "text", TEXT_ACCURACY)
    speedups(found, ("thc_steps_inflation", "thc_time_to_accuracy_speedup"), digits, "float", "thc")
    speedups(found, ("thc_text_steps_inflation", "thc_text_time_to_accuracy_speedup"), text, "4,float", "4,thc")
    found |= {f"thc_{step}_ns_a_float": [run["ns"][step] for run in alone] for step in STEPS}
    cpus = len(os.sched_getaffinity(0))
    found["thc_cpu_computing"] = [RANKS * FLOATS * sum(run["ns"][step] for step in RANK_STEPS) / 1e3 / cpus / us
                                  for run, us in zip(alone, taken(reports, "none", "thc"))]
    whole = at_end(reports, "loss", "0", "")
    found |= {"thc_many_accuracy": at_end(reports, "many", "thc") / at_end(reports, "many", "none"),
              "thc_loss_1pct_accuracy": at_end(reports, "loss", "0.01", "") / whole,
              "thc_loss_1pct_synchronized_accuracy": at_end(reports, "loss", "0.01", "synchronize") / whole}
    return {"measured": records.measured(len(thc)), "figures": found, "kernels": alone[0]["kernels"],
            **{name: alone[0][name] for name in ("errors", "others", "gradient_errors", "gradient_others")},
            "training": digits, "text": text, "losses": losses(reports),
            "many": {way: [row["accuracy"] for row in reports["many", way][0]["epochs"]] for way in ("none", "thc")},
            "seconds": {"compressed": [us / 1e6 for us in thc], "float": [us / 1e6 for us in taken(reports, "100mbit", "none")],
                        **{f"Open MPI, {name}": [us / 1e6 for us in times] for name, times in by_algorithm.items()}}}


# --- pages ----------------------------------------------------------------------------------------------------------

def errors_table(data, what=""):
    workers = sorted({row["workers"] for row in data[what + "errors"]})
    ways = dict.fromkeys((row["bits"], row["one_in"]) for row in data[what + "errors"])
    rows = [(f"THC, {bits} bits, one in {one_in} clamped", *(f"{error(data, bits, one_in, n, what)['thc']:.4g}" for n in workers))
            for bits, one_in in ways]
    rows += [(f"uniform, {bits} bits, one in {one_in} clamped", *(f"{error(data, bits, one_in, n, what)['uniform']:.4g}" for n in workers))
             for bits, one_in in ways if one_in == 32]
    rows += [(words, *(f"{other(data, n, what)[name]:.4g}" for n in workers)) for name, words in (("terngrad", "TernGrad"), ("topk", "TopK, a tenth"))]
    return table(("NMSE by number of workers", *map(str, workers)), rows)


def steps_table(data):
    return table(("step", "ns a float"), [(step.replace("_", " "), f"{Sample(data['figures'][f'thc_{step}_ns_a_float']).median:.3f}")
                                          for step in STEPS])


def seconds_table(data):
    return table(("allreduce of 20 MiB, 100 Mbit/s", "seconds"), [(way, Sample(times).spread()) for way, times in data["seconds"].items()])


def training_table(rows, accuracy, names):
    return table((f"training to an accuracy of {accuracy}, 100 Mbit/s", "epochs", "seconds"),
                 [(names[way], Sample(row["epochs"]).spread(0), Sample([ms / 1e3 for ms in row["ms"]]).spread()) for way, row in rows.items()])


def text_parts(data):
    names = {f"{ranks},{way}": f"{ranks} ranks, {words}" for ranks in (4, 8) for way, words in (("float", "floats"), ("thc", "compressed"))}
    epochs = [str(epoch + 1) for epoch in range(len(data["many"]["thc"]))]
    words = {"none": "floats", "thc": "compressed"}
    many = table(("64 workers in one process: accuracy after epoch", *epochs),
                 [(words[way], *(f"{accuracy:.4f}" for accuracy in row)) for way, row in data["many"].items()])
    lost = table(("10 workers: packets lost", "models made the same", "accuracy", "floats that were zeros"),
                 [(f"{loss:.1%}", "after each epoch" if synchronized else "never", f"{accuracy:.4f}", f"{missed:,}")
                  for loss, synchronized, accuracy, missed in data["losses"]])
    return ["The language model:", training_table(data["text"], TEXT_ACCURACY, names), many, lost]


def pages(data):
    found = data["figures"]
    answer = (f"{SLOW} a sum in 4 bits a number is {Sample(found['thc_vs_float_tat']).median:.2f} times as fast as one of floats, and "
              f"{Sample(found['thc_vs_best']).median:.2f} times as fast as the best that Open MPI has. Four ranks' mean errs by "
              f"{Sample(found['thc_nmse_b4_n4']).median:.2%} of its square.")
    digits = training_table(data["training"], ACCURACY, {"openmpi": "Open MPI", "float": "swagg, floats", "thc": "swagg, compressed"})
    gradients = ["Of gradients:", errors_table(data, "gradient_")] if "gradient_errors" in data else []
    text = text_parts(data) if "text" in data else []
    return {"thc": "\n\n".join([answer, "![Error by the number of workers](thc.svg)", figure_table(FIGURES, data), seconds_table(data), digits, *text,
                                "The error of the mean, of normal numbers:", errors_table(data), *gradients,
                                f"The steps ({data['kernels']}), beside memcpy of the same floats:", steps_table(data), "## How it is measured", READING.strip()])}


def plots(data):
    workers = sorted({row["workers"] for row in data["errors"]})
    series = [(f"{bits} bits", kind, [(n, Sample(error(data, bits, 32, n)["thc"])) for n in workers])
              for bits, kind in ((4, "ours"), (3, "second"))]
    series.append(("TernGrad", "peer", [(n, Sample(other(data, n)["terngrad"])) for n in workers]))
    return {"thc": lines("Error by the number of workers", [
        Panel("Mean of the same vector on all workers", "square of the error, by that of the vector: less is better", series=series,
              x_ticks=[(n, str(n)) for n in workers], x_unit="workers", log=True, ranges=False)])}
