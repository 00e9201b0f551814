"""Host-addressed aggregation, in the switch and in the host: what case1.sh measured."""
from figures import Figure
from parts.organisations import NAMES, both, comparison_panel, comparison_table, ratio
from plot import bars

FIGURES = (
    Figure("case1_vs_host", "Gradients that three workers send to a host over links of 100 Mbit/s are summed {:.2f} times as fast in the "
           "switch as in the host.", ">= 2.2"),
    Figure("case1_vs_host_cpu", "Over links without a limit, where CPUs are the limit, {:.2f} times as fast."),
    Figure("case1_vs_host_p_2x", "With a thread for each of the switch's ports and two that aggregate, {:.2f} times as fast.", first_screen=False),
    Figure("case1_vs_host_2p_x", "With two threads for each port and one that aggregates, {:.2f} times as fast.", first_screen=False),
)

LINKS = {"100mbit": "100 Mbit/s", "none": "no limit"}
FLOATS, GOOGLENET = "400000", "6175000"
PAPER = {"100mbit": "case1_vs_host", "none": "case1_vs_host_cpu"}

READING = """
Case 1 of "An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning" (section 5.2.1, figure 11): workers and a host
on veths, each with a link of its own to swagg. Workers send frames of 1516 bytes, 366 floats each, to a UDP port of the host. In the
switch: swagg takes them out of the way, sums them and answers. In the host: swagg only switches, and a process there does the same, with
the same code (`lib/core/hostagg`), over a UDP socket. The times are those of an array, from the first packet sent to the last sum received
by the slowest worker, in the median over all arrays; switch and host take turns in each run. Arrays have 400,000 floats, and once as many
as GoogLeNet, the smallest of the paper's models, has in 24.7 MB: chunks go one after another, so the time grows as the array does. The paper's
2.2 to 2.5 are three workers' on 40 Gbit/s links. **What bounds it:** where links are the limit, the host's link carries all workers' gradients and
as many sums, one each way, and with the switch's sums a link carries one worker's: the bound is the number of workers. Where nothing limits
the links, workers, host and switch share the machine's CPUs; the switch's sums save the host's part of the work. So it is with more threads
than CPUs, which wait for one another on any link.
"""


def collect(rows):
    times = both(rows, lambda report: report["median_s"])
    figures = {figure: ratio(times[links, "3", "one", FLOATS]) for links, figure in PAPER.items() if (links, "3", "one", FLOATS) in times}
    figures |= {f"case1_vs_host_{form}": ratio(times["100mbit", "3", form, FLOATS]) for form in ("p_2x", "2p_x")
                if ("100mbit", "3", form, FLOATS) in times}
    return figures, {"forms": [{"links": links, "workers": int(workers), "organisation": form, "floats": int(floats), **found}
                               for (links, workers, form, floats), found in times.items()]}


def by_organisation(data, links):
    return [(NAMES[row["organisation"]], row) for name in NAMES for row in data["forms"]
            if (row["links"], row["workers"], row["organisation"], row["floats"]) == (links, 3, name, int(FLOATS))]


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
