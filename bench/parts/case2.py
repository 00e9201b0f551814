"""Frames that may not be touched, summed in the switch and in the host: what case2.sh measured."""
from figures import Figure
from parts.organisations import NAMES, both, comparison_panel, comparison_table, ratio
from plot import bars

FIGURES = (
    Figure("case2_vs_host", "Of 1,000 frames of 192 bytes from each of two workers, which pass unchanged over links of 10 Mbit/s, the switch has "
           "all sums {:.2f} times as fast as the host.", ">= 1.16"),
    Figure("case2_vs_host_p_2x", "With a thread for each of the switch's ports and two that aggregate, {:.2f} times as fast.", first_screen=False),
    Figure("case2_vs_host_2p_x", "With two threads for each port and one that aggregates, {:.2f} times as fast.", first_screen=False),
)

READING = """
Case 2 of "An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning" (section 5.2.2, figure 12): workers send 1,000
frames each, of 64 bytes of headers and 32 floats, to a host; swagg forwards every frame as it came. In the switch: swagg sums copies; the
time ends when the collector, on a link of its own, has the last sum. In the host: swagg only forwards, and a program adds what comes by a packet
socket; the time ends with the last addition. It begins in both with the first frame that a worker sends, and is the median of several turns.
**What bounds it:** the host's link carries the frames of all workers, n x 192 kB, and each worker's link those of one; a link lets the first
33 kB through at once. So where links are the limit the bound is (192 n - 33) / (192 - 33): 2.2 for two workers, 4.6 for four. The paper's 1.16
are two workers'. The programs are in Python, which is why the links are slow; where the switch's threads are more than the CPUs, they wait for
one another.
"""


def collect(rows):
    times = both(rows, lambda report: report["seconds"])
    names = {"one": "case2_vs_host", "p_2x": "case2_vs_host_p_2x", "2p_x": "case2_vs_host_2p_x"}
    return ({name: ratio(times["2", form]) for form, name in names.items() if ("2", form) in times},
            {"forms": [{"workers": int(workers), "organisation": form, **found} for (workers, form), found in times.items()]})


def by_organisation(data):
    return [(NAMES[name], row) for name in NAMES for row in data["forms"] if (row["workers"], row["organisation"]) == (2, name)]


def by_workers(data):
    return [(f"{row['workers']} workers", row) for row in sorted(data["forms"], key=lambda row: row["workers"]) if row["organisation"] == "one"]


def section(data):
    return "\n\n".join(["## Sums of frames that pass by", "![How many times as fast it is in the switch](switches_case2.svg)",
                        comparison_table(("the switch's threads, 2 workers",), by_organisation(data), 4),
                        comparison_table(("one thread for everything",), by_workers(data), 4)])


def plots(data):
    panels = [comparison_panel("2 workers, by the switch's threads", by_organisation(data), (1.16, "aim")),
              comparison_panel("One thread for everything", by_workers(data), (1.16, "aim"))]
    return {"switches_case2": bars("Frames that pass by: how many times as fast the switch has all sums as the host", panels)}
