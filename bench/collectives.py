"""Calls that are posted, and go on while the program computes: what collectives.sh measured."""
from functools import partial
from statistics import median

import records
import rooms
from figures import Figure, Sample, figure_table, found, table

MEASURES = rooms.WORKERS  # rooms.py

READING = """
Four hosts, one rank each, on veths; MTU 1500, segmentation offloads off; swagg is the hosts' only switch, and hosts and switch share this machine's CPUs. Calls are
allreduces of floats. Each time is from a barrier to the slowest rank's end, and a run's figure is of the medians of its rounds.

*Hidden* is the share of a call's time that a program does not notice which posts the call, computes for 1.2 times as long, and waits for it: (call + computing - both) / call. The
job has a progress thread. *Elsewhere*: the hosts' CPUs have nothing else to do meanwhile, as where a GPU computes; the rank sleeps. *On the same CPUs*: all four ranks compute
on the CPUs that they share with the switch, so what the call itself takes of them cannot be hidden.
"""
LINKS = {"200mbit": "200 Mbit/s", "none": "no limit"}
WHATS = {"call": "a call of 16 MiB", "asleep": "computing elsewhere", "asleep_both": "both", "busy": "computing on the same CPUs", "busy_both": "both",
         "one": "a call of 2 MiB", "eight": "eight calls of 256 KiB, posted"}
FIGURES = (
    Figure("overlap", "Over links of 200 Mbit/s {:.1%} of an allreduce of 16 MiB that is posted is hidden behind computing elsewhere.", ">= 0.9"),
    Figure("overlap_same_cpus", "Over links of 200 Mbit/s {:.1%} of it is hidden behind computing on the CPUs that four hosts and the switch share.", first_screen=False),
    Figure("overlap_cpu", "Over links without a limit {:.1%} of it is hidden behind computing elsewhere.", first_screen=False),
    Figure("eight_in_flight", "Over links of 200 Mbit/s eight posted calls of 256 KiB have {:.2f} times the goodput of one of 2 MiB.", ">= 0.9"),
    Figure("eight_in_flight_cpu", "Over links without a limit eight posted calls of 256 KiB have {:.2f} times the goodput of one of 2 MiB.", first_screen=False),
)


def posted(directory):
    """{links: [{what: seconds}, one a run]}"""
    return {key[0]: [{what: median(row[f"{what}_s"]) for what in WHATS} for row in group]
            for key, group in records.reports(directory).items() if key[-1] == "posted"}


def ways(directory):
    runs = posted(directory)

    def hidden(links, computing):
        return [(s["call"] + s[computing] - s[f"{computing}_both"]) / s["call"] for s in runs[links]]

    def in_flight(links):
        return [s["one"] / s["eight"] for s in runs[links]]

    return {"overlap": partial(hidden, "200mbit", "asleep"), "overlap_same_cpus": partial(hidden, "200mbit", "busy"), "overlap_cpu": partial(hidden, "none", "asleep"),
            "eight_in_flight": partial(in_flight, "200mbit"), "eight_in_flight_cpu": partial(in_flight, "none")}


def collect(directory):
    runs = posted(directory)
    times = [{"links": links, "what": what, "seconds": [s[what] for s in group]} for links, group in sorted(runs.items()) for what in WHATS]
    return {"measured": records.measured(len(next(iter(runs.values()))), MEASURES), "figures": found(ways(directory)), "posted": times}


def answer(data):
    figures = data["figures"]
    return (f"Over links of 200 Mbit/s {Sample(figures['overlap']).median:.0%} of an allreduce of 16 MiB is hidden behind computing elsewhere, and eight posted calls of 256 KiB "
            f"have {Sample(figures['eight_in_flight']).median:.2f} times the goodput of one of 2 MiB ([posted calls](../libswagg.md#posted-calls)).")


def posted_table(data):
    rows = [(LINKS[row["links"]], WHATS[row["what"]], f"{1e3 * Sample(row['seconds']).median:.1f}") for row in data["posted"]]
    return table(("links", "what", "time (ms)"), rows, "llr")


def pages(data):
    return {"collectives": "\n\n".join([answer(data), figure_table(FIGURES, data), posted_table(data), "## How it is measured", READING.strip()])}


def plots(data):
    return {}
