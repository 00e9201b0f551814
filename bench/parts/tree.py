"""Trees of switches: what tree.sh measured."""
from figures import Figure, Sample, table

FIGURES = (
    Figure("hierarchy_share", "Through two levels of switches, on links of 100 Mbit/s, four hosts sum {:.1%} as fast as through one.", ">= 0.95"),
    Figure("hierarchy3_share", "Through three levels {:.1%} as fast.", ">= 0.92"),
    Figure("uplink_bytes_share", "A leaf sends {:.3f} times the bytes of one of its workers to the switch above.", "<= 1.02"),
    Figure("hierarchy_restart_s", "A leaf that is killed and started again in the middle of a collective costs it {:.2f} s."),
)

LEVELS = ("levels1", "levels2", "levels3")

READING = """
Trees: four hosts on one switch; on two leaves and a root; on two leaves, each below another switch, and a root. All are swaggs in
namespaces of one machine, and every link is limited to 100 Mbit/s both ways. `swagg-perf` makes allreduces of 2 MB, float32, one
after another; the share is the mean time through one switch by that through the tree. Bytes are counted by the left leaf's ports
meanwhile: sent up, and received from its two workers, by their number. The restart: one allreduce of 32 MB without, and one in which the left leaf is
killed when a quarter of the results has come, and started again at once; the time that it took longer. That contains the end of the old process and the
start of the new one, some 0.5 s on a busy machine. It was up to 12 s while a leaf got no more than headers for the sums that its ranks had handed
back: they were told that a chunk was complete only when they asked, chunk by chunk, each after a timer.

**What bounds it:** CPUs. The polling threads of all switches share one of the two, and what one of them takes the others' packets wait for.
How much that is depends on what a thread does while nothing comes. One that had found its CPU wanted by others used to spin for 64 rounds, some
0.2 ms, before it slept. In the scheduler's trace of three levels the threads of the leaves then waited 0.4 to 0.6 s of each second for
their CPU, one time in a hundred for more than 15 ms; longer windows changed nothing, shorter spinning did. They now spin for 10 µs, and
sleep until a frame comes. In alternation, on a machine that others kept busy, allreduces of 2 MB took 0.228 and 0.286 s through two and three
levels with the switches of before, and 0.178 and 0.189 s with these (medians of three); through one switch 0.174 s with both.
"""


def time_s(report):
    return report[0]["mean_us"] / 1e6


def collect(rows):
    times = {what: [time_s(report) for report in rows[what,]] for what in (*LEVELS, "undisturbed", "restarted") if (what,) in rows}
    one, two, three = (times[what] for what in LEVELS)
    return ({"hierarchy_share": [a / b for a, b in zip(one, two)], "hierarchy3_share": [a / b for a, b in zip(one, three)],
             "uplink_bytes_share": [2 * report["up"] / sum(report["workers"]) for report in rows["bytes",]],
             "hierarchy_restart_s": [a - b for a, b in zip(times["restarted"], times["undisturbed"])]}, {"seconds": times})


def section(data):
    names = {"levels1": "one switch, 2 MB", "levels2": "two levels, 2 MB", "levels3": "three levels, 2 MB",
             "undisturbed": "two levels, one collective", "restarted": "the same, a leaf restarted"}
    rows = [(names[what], Sample(values).spread(4)) for what, values in data["seconds"].items()]
    return "## Trees of switches\n\n" + table(("switches", "an allreduce, s"), rows)
