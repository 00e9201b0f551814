"""A daemon that is killed and started again in mid-job: what restart.sh measured."""
from statistics import median

from figures import Figure, Sample, table

FIGURES = (
    Figure("restart_wrong", "Of the sums of a job whose switch was killed and started again in their midst, {:.0f} were wrong.", "<= 0"),
    Figure("restart_lost_s", "The call during which that happened took {:.1f} s longer than one does usually.", first_screen=False),
    Figure("restart_beyond_down_s", "That is {:.2f} s more than the switch was away.", first_screen=False),
)

READING = """
**Restart in mid-job.** Four hosts sum 1 MiB of int32 in a loop (`bench/parts/summing.py`, Python with numpy), and compare every element. After a second the daemon is killed (SIGKILL) and started
again with the same configuration, three times. It was away from the signal until it says, by its log's clock, that it is ready. Most of that is DPDK's start: it loads
all 128 drivers of Debian's package, whichever the configuration needs, and sleeps 0.1 s to measure the CPU's clock where the CPU does not tell its rate, as in a virtual machine; then every packet buffer is written once, which in ordinary pages is a page fault each. Time lost is the longest call, by rank 0's clock, beside the median of all.
"""


def lost_s(row):
    return [longest - median(row["call_s"]) for longest in sorted(row["call_s"])[-len(row["down_s"]):]]


def collect(rows):
    (runs,) = rows.values()
    lost = [median(lost_s(row)) for row in runs]
    return {"restart_wrong": [row["wrong"] for row in runs], "restart_lost_s": lost,
            "restart_beyond_down_s": [time - median(row["down_s"]) for time, row in zip(lost, runs)]}, \
        {"runs": [{"calls": len(row["call_s"]), "resumed": row["resumed"], "usual_ms": 1e3 * median(row["call_s"]), "down_s": row["down_s"], "lost_s": lost_s(row)} for row in runs]}


def section(data):
    rows = [(row["calls"], row["resumed"], f"{row['usual_ms']:.1f}", Sample(row["down_s"]).spread(2), Sample(row["lost_s"]).spread(2)) for row in data["runs"]]
    return "## A restart in mid-job\n\n" + table(("calls", "restarts outlived", "a call usually (ms)", "the switch was away (s)", "time lost (s)"), rows, "rrrrr")
