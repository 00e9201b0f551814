"""What training with compressed sums is like: how well it learns, and how long that takes, where packets are lost and workers come late."""
from functools import partial

import records
from figures import Figure, Sample, table
from plot import Panel, bars, lines

DIGITS_ACCURACY, TEXT_ACCURACY = 0.96, 0.42
WORKERS, EPOCHS = 10, 6  # where packets are lost or workers late
LATE, LATE_MS = (1, 2, 3), 100
WAYS = {"float": "floats", "fp16": "floats in 16 bits", "thc": "compressed"}

SLOW = "Over links of 100 Mbit/s"
FIGURES = (
    Figure("thc_steps_inflation", f"{SLOW} four ranks take {{:.2f}} times as many epochs as with sums of floats until they know 96 of 100 digits.", "<= 1.05"),
    Figure("thc_time_to_accuracy_speedup", f"{SLOW} four ranks know 96 of 100 digits {{:.2f}} times as fast as with sums of floats.", ">= 1.5"),
    Figure("thc_time_to_accuracy_vs_fp16", f"{SLOW} four ranks know 96 of 100 digits {{:.2f}} times as fast as with floats that travel in 16 bits."),
    Figure("thc_text_steps_inflation", f"{SLOW} four ranks take {{:.2f}} times as many epochs until a language model knows 42 of 100 characters.", "<= 1.05"),
    Figure("thc_text_time_to_accuracy_speedup", f"{SLOW} a language model knows 42 of 100 characters {{:.2f}} times as fast as with sums of floats.", ">= 1.5"),
    Figure("thc_text_time_to_accuracy_vs_fp16", f"{SLOW} a language model knows 42 of 100 characters {{:.2f}} times as fast as with floats that travel in 16 bits."),
    Figure("thc_many_accuracy", "64 workers in one process know {:.3f} times as many characters at the end as with sums of floats."),
    Figure("thc_loss_1pct_accuracy", "With one packet in 100 lost, and zeros for what does not come, 10 workers know {:.3f} times as many characters as without loss."),
    Figure("thc_loss_1pct_synchronized_accuracy", "With one packet in 100 lost, and models made the same after each epoch, they know {:.3f} times as many as without loss."),
    Figure("thc_loss_01pct_accuracy", "With one packet in 1,000 lost they know {:.3f} times as many as without loss.", first_screen=False),
    Figure("thc_loss_01pct_synchronized_accuracy", "With one packet in 1,000 lost, and models made the same, they know {:.3f} times as many.", first_screen=False),
    *(Figure(f"thc_late_{late}0pct_accuracy", f"With {late} of 10 workers late in each step, and sums of the others, they know {{:.3f}} times as many characters "
             "as if none were late.", first_screen=late == LATE[-1]) for late in LATE),
    *(Figure(f"thc_late_{late}0pct_speedup", f"{SLOW} 10 workers, of whom {late} {'is' if late == 1 else 'are'} {LATE_MS} ms late in each step, train {{:.2f}} times as "
             "fast by a quorum as if all were waited for.", first_screen=late == LATE[-1]) for late in LATE),
    Figure("thc_late_64_accuracy", "With 19 of 64 workers late in each step they know {:.3f} times as many as if none were late.", first_screen=False),
)

READING = f"""
Training: `train-digits`, the program of `script/demo`, on the same hosts and links: gradients of 150 KiB, one a step, the same start and the same order
of images every time. Through the shim, with `SWAGG_COMPRESSION=thc`, with `SWAGG_NUMBERS=fp16`, which sends half of the bytes and gives nearly exact sums, or without either; and
with Open MPI alone, through the same switch. The links' rate limit lets two frames through at once, no more: with its usual burst of 32 KB a compressed
gradient of digits (20 KB) would pass as if there were no limit. `train-text` is larger: a language model of
451,136 parameters (1.8 MB), which learns to tell the next character of Debian's licence texts from the 16 before it; two hidden layers,
batches of 256, 30 steps an epoch, tested on other stretches of the texts. Eight ranks are two on each host.

Training in one process: `bench-train`, the same model, its workers' gradients compressed, summed and decoded by libswagg's and the switch's
own functions. Lost packets as in section 8.3 of the paper: 10 workers, granularity 20, one number in 512 clamped; each packet is lost with the same
probability on its way to the switch and back, nothing is sent again, and what does not come counts as zeros, for the rank that misses a sum, or for all if a contribution is missing.
Then ranks' models differ, unless they take their mean after each epoch. Late workers as there, too: in each step some others, chosen at random, are
not waited for. Compressed, what they had is added to their next gradients by error feedback (the paper drops it); floats of those that are there are
scaled up to all. Accuracy is that of the first worker's model after {EPOCHS} epochs; of 4, 8 and 64 workers after 5, with libswagg's own settings. It is
of 3,200 characters, so one in a hundred is chance.

Late workers on the network: ten processes of the same program, two on each of five hosts, through libswagg with `options.quorum` or without. In each step
some, the same in both cases, sleep for {LATE_MS} ms before they contribute; who is still behind from the step before is late, too. Models are made
the same after each epoch. Time is that of a step, in the second of two epochs, of 15 steps each.
"""


# --- what the records say ---------------------------------------------------------------------------------------------

def until(epochs, accuracy):
    """How many epochs, and milliseconds, it took to reach the accuracy."""
    ms = 0
    for row in epochs:
        ms += row["ms"]
        if row["accuracy"] >= accuracy:
            return row["epoch"], ms
    raise ValueError(f"no accuracy of {accuracy} after {len(epochs)} epochs")


def trained(reports, program, accuracy):
    """{(what,) way: {"epochs": run by run, "ms": run by run}}"""
    found = {}
    for key, runs in reports.items():
        if key[0] == program:
            ends = [until(epochs, accuracy) for epochs in runs]
            found[",".join(key[1:])] = {"epochs": [end[0] for end in ends], "ms": [end[1] for end in ends]}
    return found


def by_epoch(reports, *key):
    return [row["accuracy"] for row in reports[key][0]["epochs"]]


def at_end(reports, *key):
    return by_epoch(reports, *key)[-1]


def in_one_process(reports):
    """What no two runs differ in: [{"workers", "late", "way", "loss", "synchronized", "accuracy" by epoch, "missed" floats}]"""
    rows = []
    for (kind, *key), runs in sorted(reports.items()):
        row = {"accuracy": by_epoch(reports, kind, *key), "missed": runs[0]["missed"]} if kind in ("many", "loss") else None
        if kind == "many":
            rows.append(row | {"workers": int(key[0]), "late": int(key[1]), "way": key[2], "loss": 0, "synchronized": False})
        elif kind == "loss":
            rows.append(row | {"workers": WORKERS, "late": 0, "way": "thc", "loss": float(key[0]), "synchronized": bool(key[1])})
    return rows


def step_ms(runs):
    return [run["epochs"][-1]["ms"] / run["steps"] for run in runs]


def ways(reports):
    def ends(what, accuracy, *key):
        return [until(epochs, accuracy)[what] for epochs in reports[key]]

    def versus(what, accuracy, over, under):
        return records.ratios(*(ends(what, accuracy, *key) for key in (over, under)))

    def by_accuracy(over, under):
        return at_end(reports, *over) / at_end(reports, *under)

    def by_quorum(late):
        return records.ratios(*(step_ms(reports["late", str(WORKERS), str(late), how]) for how in ("all", "quorum")))

    found = {}
    for program, prefix, accuracy in (("train", "thc", DIGITS_ACCURACY), ("text,4", "thc_text", TEXT_ACCURACY)):
        floats, fp16, thc = ((*program.split(","), way) for way in WAYS)
        found |= {f"{prefix}_steps_inflation": partial(versus, 0, accuracy, thc, floats),
                  f"{prefix}_time_to_accuracy_speedup": partial(versus, 1, accuracy, floats, thc),
                  f"{prefix}_time_to_accuracy_vs_fp16": partial(versus, 1, accuracy, fp16, thc)}
    whole, many = ("loss", "0", ""), ("many", "64", "0", "thc")
    found["thc_many_accuracy"] = partial(by_accuracy, many, ("many", "64", "0", "float"))
    for name, loss in (("1pct", "0.01"), ("01pct", "0.001")):
        found[f"thc_loss_{name}_accuracy"] = partial(by_accuracy, ("loss", loss, ""), whole)
        found[f"thc_loss_{name}_synchronized_accuracy"] = partial(by_accuracy, ("loss", loss, "synchronize"), whole)
    for late in LATE:
        found[f"thc_late_{late}0pct_accuracy"] = partial(by_accuracy, ("many", str(WORKERS), str(late), "thc"), whole)
        found[f"thc_late_{late}0pct_speedup"] = partial(by_quorum, late)
    found["thc_late_64_accuracy"] = partial(by_accuracy, ("many", "64", "19", "thc"), many)
    return found


def collect(reports):
    """What the page needs besides figures."""
    late = {",".join(key[1:]): step_ms(runs) for key, runs in reports.items() if key[0] == "late"}
    return {"training": trained(reports, "train", DIGITS_ACCURACY), "text": trained(reports, "text", TEXT_ACCURACY), "late": late,
            "process": in_one_process(reports)}


# --- pages ------------------------------------------------------------------------------------------------------------

def time_table(rows, accuracy, names):
    return table((f"training to an accuracy of {accuracy}, 100 Mbit/s", "epochs", "seconds"),
                 [(names(way), Sample(row["epochs"]).spread(0), Sample([ms / 1e3 for ms in row["ms"]]).spread()) for way, row in rows.items()])


def digits_words(way):
    return "Open MPI" if way == "openmpi" else f"swagg, {WAYS[way]}"


def text_words(name):
    ranks, way = name.split(",")
    return f"{ranks} ranks, {WAYS[way]}"


def late_words(name):
    workers, late, way = name.split(",")
    return f"{workers} ranks, {late} late: " + ("all wait for all" if way == "all" else "a quorum of the others")


def of_losses(data):
    """Rows with the paper's settings."""
    return [row for row in data["process"] if row["workers"] == WORKERS and row["way"] == "thc" and row["late"] == 0]


def of_late(data):
    return [row for row in data["process"] if row["loss"] == 0]


def losses_table(data):
    return table(("10 workers: packets lost", "models made the same", "accuracy", "floats that were zeros"),
                 [(f"{row['loss']:.1%}", "after each epoch" if row["synchronized"] else "never", f"{row['accuracy'][-1]:.4f}", f"{row['missed']:,}")
                  for row in of_losses(data)])


def late_table(data):
    rows = sorted(of_late(data), key=lambda row: (row["workers"], row["way"], row["late"]))
    return table(("workers in one process", "late in each step", "sums", "accuracy at the end", "after each epoch"),
                 [(row["workers"], f"{row['late']} ({row['late'] / row['workers']:.0%})", WAYS[row["way"]], f"{row['accuracy'][-1]:.4f}",
                   " ".join(f"{accuracy:.3f}" for accuracy in row["accuracy"])) for row in rows], "rrlrl")


def late_times(data):
    return table(("a step of training, 100 Mbit/s", "ms"), [(late_words(name), Sample(ms).spread(0)) for name, ms in data["late"].items()])


def parts(data):
    """What of the page is about training."""
    return ["![Seconds until the accuracy](thc_training.svg)", time_table(data["training"], DIGITS_ACCURACY, digits_words),
            "The language model:", time_table(data["text"], TEXT_ACCURACY, text_words),
            "Where packets are lost, and where workers come late:", "![Accuracy by epoch](thc_resilience.svg)", losses_table(data), late_table(data),
            late_times(data)]


# --- plots ------------------------------------------------------------------------------------------------------------

KINDS = ("peer", "ours", "second", "third")


def by_epochs(heading, rows):
    """rows: [(label, row)]"""
    epochs = range(1, EPOCHS + 1)
    return Panel(heading, "share of characters that are known", series=[(label, kind, [(epoch, Sample(accuracy)) for epoch, accuracy in enumerate(row["accuracy"], 1)])
                                                           for kind, (label, row) in zip(KINDS, rows)],
                 x_ticks=[(epoch, str(epoch)) for epoch in epochs], x_unit="epoch", x_log=False, ranges=False)


def resilience(data):
    lost = [(f"{row['loss']:.0%}, made the same" if row["synchronized"] else f"{row['loss']:.0%} lost", row) for row in of_losses(data) if row["loss"] in (0, 0.01)]
    late = [(f"{row['late']} late", row) for row in sorted(of_late(data), key=lambda row: row["late"]) if row["workers"] == WORKERS and row["way"] == "thc"]
    return lines("Accuracy by epoch", [by_epochs("10 workers, packets lost", lost), by_epochs("10 workers, some late in each step", late)])


def seconds(rows, heading, words):
    return Panel(heading, "seconds: less is better", [(words(way), Sample([ms / 1e3 for ms in row["ms"]]), "peer" if way == "openmpi" else
                                                       "second" if "float" in way else "third" if "fp16" in way else "ours") for way, row in rows.items()])


def plots(data):
    panels = [seconds(data["training"], f"Training to an accuracy of {DIGITS_ACCURACY}: digits", digits_words),
              seconds(data["text"], f"... of {TEXT_ACCURACY}: a language model", text_words)]
    return {"thc_training": bars("Training over links of 100 Mbit/s", panels), "thc_resilience": resilience(data)}
