"""Host-addressed aggregation, in the switch and in the host: what case1.sh measured."""
from figures import Figure
from parts.organisations import NAMES, both, comparison_panel, comparison_table, ratio
from plot import bars

FIGURES = (
    Figure("case1_vs_host_cpu", "Gradients that three workers send to a host over links without a limit are summed {:.2f} times as fast in the "
           "switch as in the host."),
    Figure("case1_vs_host_cpu_p_2x", "The same with a thread for each of the switch's ports and two that aggregate: {:.2f} times as fast."),
    Figure("case1_vs_host_cpu_2p_x", "With two threads for each port and one that aggregates, {:.2f} times as fast.", first_screen=False),
    Figure("case1_of_bound", "Over links of 100 Mbit/s they are summed {:.1%} as many times as fast as there are workers, which is the bound.", ">= 0.97"),
    Figure("case1_vs_host", "Over links of 100 Mbit/s {:.2f} times as fast: three workers, so three times by arithmetic.", first_screen=False),
    Figure("case1_vs_host_p_2x", "There with a thread for each port and two that aggregate, {:.2f} times.", first_screen=False),
    Figure("case1_vs_host_2p_x", "There with two threads for each port and one that aggregates, {:.2f} times.", first_screen=False),
)

LINKS = {"100mbit": "100 Mbit/s", "none": "no limit"}
FLOATS, GOOGLENET = "400000", "6175000"
WORKERS = "3"  # as many as the paper's 2.2 to 2.5 are of
NAMED = {"100mbit": "case1_vs_host", "none": "case1_vs_host_cpu"}

READING = """
Case 1 of "An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning" (section 5.2.1, figure 11): workers and a host
on veths, each with a link of its own to swagg. Workers send frames of 1516 bytes, 366 floats each, to a UDP port of the host. In the
switch: swagg takes them out of the way, sums them and answers. In the host: swagg only switches, and a process there does the same, with
the same code (`lib/core/hostagg`), over a UDP socket. The times are those of an array, from the first packet sent to the last sum received
by the slowest worker, in the median over all arrays; switch and host take turns in each run. Arrays have 400,000 floats, and once as many
as GoogLeNet, the smallest of the paper's models, has in 24.7 MB: chunks go one after another, so the time grows as the array does. The paper's
2.2 to 2.5 are three workers' on 40 Gbit/s links. **What bounds it:** where links are the limit, the host's link carries all workers' gradients and
as many sums, one each way, and with the switch's sums a link carries one worker's: the bound is the number of workers, and that is all that links of 100
Mbit/s show. So the figures that say something of the switch are those without a limit. There workers, host and switch share the machine's CPUs, and the
switch's sums save the host's part of the work; with more threads than CPUs, which wait for one another, less is saved than they cost.
"""


def collect(rows):
    times = both(rows, lambda report: report["median_s"])
    figures = {name + ("" if form == "one" else f"_{form}"): ratio(times[links, WORKERS, form, FLOATS])
               for links, name in NAMED.items() for form in NAMES if (links, WORKERS, form, FLOATS) in times}
    if "case1_vs_host" in figures:
        figures["case1_of_bound"] = [times_as_fast / int(WORKERS) for times_as_fast in figures["case1_vs_host"]]
    return figures, {"forms": [{"links": links, "workers": int(workers), "organisation": form, "floats": int(floats), **found}
                               for (links, workers, form, floats), found in times.items()]}


def by_organisation(data, links):
    return [(NAMES[row["organisation"]], row) for name in NAMES for row in data["forms"]
            if (row["links"], row["workers"], row["organisation"], row["floats"]) == (links, int(WORKERS), name, int(FLOATS))]


def by_workers(data, links):
    return [(f"{row['workers']} workers", row) for row in sorted(data["forms"], key=lambda row: row["workers"])
            if (row["links"], row["organisation"], row["floats"]) == (links, "one", int(FLOATS))]


def section(data):
    organised = [(LINKS[links], words, row) for links in LINKS for words, row in by_organisation(data, links)]
    grown = [(LINKS[links], words, row) for links in LINKS for words, row in by_workers(data, links)]
    model = [(LINKS[row["links"]], "GoogLeNet, 24.7 MB, 3 workers", row) for row in data["forms"] if row["floats"] == int(GOOGLENET)]
    return "\n\n".join(["## Sums of what is sent to a host", "![How many times as fast it is in the switch](switches_case1.svg)",
                        comparison_table(("links", "the switch's threads, 3 workers"), organised),
                        comparison_table(("links", "one thread for everything"), grown + model)])


def plots(data):
    panels = [comparison_panel(f"{heading}, links of {LINKS[links]}" if links != "none" else f"{heading}, links without a limit", rows(data, links),
                               (2.2, "aim")) for links in LINKS
              for heading, rows in (("3 workers, by the switch's threads", by_organisation), ("One thread for everything", by_workers))]
    return {"switches_case1": bars("Gradients sent to a host: how many times as fast they are summed in the switch as in the host", panels)}
