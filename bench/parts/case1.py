"""Host-addressed aggregation, in the switch and in the host: what case1.sh measured."""
from figures import Figure, Sample, table
import records

FIGURES = (
    Figure("case1_vs_host", "Gradients that three workers send to a host over links of 100 Mbit/s are summed {:.2f} times as fast in the "
           "switch as in the host.", ">= 2.2"),
    Figure("case1_vs_host_cpu", "Over links without a limit, where CPUs are the limit, {:.2f} times as fast."),
)

LINKS = {"100mbit": "case1_vs_host", "none": "case1_vs_host_cpu"}

READING = """
Case 1 of "An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning" (section 5.2.1, figure 11): three workers and a host
on veths, each with a link of its own to swagg. Workers send frames of 1516 bytes, 366 floats each, to a UDP port of the host. In the
switch: swagg takes them out of the way, sums them and answers. In the host: swagg only switches, and a process there does the same, with
the same code (`lib/core/hostagg`), over a UDP socket. The times are those of an array, from the first packet sent to the last sum received
by the slowest worker, in the median over all arrays; switch and host take turns in each run. The paper's 2.2 to 2.5 are from 40 Gbit/s
links and three workers; where links are the limit the host's link carries every worker's gradients, so the bound is the number of
workers.
"""


def collect(rows):
    figures, seconds = {}, {}
    for links, figure in LINKS.items():
        times = {where: [report["median_s"] for report in rows[where, links]] for where in ("switch", "host") if (where, links) in rows}
        if len(times) == 2:
            figures[figure] = records.ratios(times["host"], times["switch"])
            seconds[links] = times
    return figures, {"seconds": seconds}


def section(data):
    rows = [(links, where, Sample(values).spread(4)) for links, times in data["seconds"].items() for where, values in times.items()]
    return "## Sums of what is sent to a host\n\n" + table(("links", "summed in the", "an array, s"), rows, "llr")
