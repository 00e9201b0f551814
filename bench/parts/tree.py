"""Trees of switches: what tree.sh measured."""
import records
from figures import Figure, Sample, table

FIGURES = (
    Figure("hierarchy_share", "Through two levels of switches, on links of 50 Mbit/s, four hosts sum {:.1%} as fast as through one.", ">= 0.95"),
    Figure("hierarchy3_share", "Through three levels {:.1%} as fast.", ">= 0.92"),
    Figure("uplink_bytes_share", "A leaf sends {:.3f} times the bytes of one of its workers to the switch above.", "<= 1.02"),
    Figure("hierarchy_restart_s", "A leaf that is killed and started again in the middle of a collective costs it {:.2f} s."),
)

LEVELS = ("levels1", "levels2", "levels3")

READING = """
Trees: four hosts on one switch; on two leaves and a root; on two leaves, each below another switch, and a root. All are swaggs in
namespaces of one machine, and every link is limited to 50 Mbit/s both ways. `swagg-perf` makes allreduces of 2 MB, float32, one
after another; the share is the mean time through one switch by that through the tree. Bytes are counted by the left leaf's ports
meanwhile: sent up, and received from its two workers, by their number. The restart: one allreduce of 32 MB without, and one in which the left leaf is
killed when a quarter of the results has come, and started again at once; the time that it took longer. That contains the end of the old process and the
start of the new one, some 0.5 s on a machine that others keep busy.

**What bounds it:** CPUs. The polling threads of all switches share one of the two, and what one of them takes the others' packets wait for. With
links of 100 Mbit/s the CPUs are the limit, not the links: two levels were 0.96 times as fast as one, and three 0.86 times (2026-11-30); on an Intel Xeon, whose CPUs are faster, as fast
and 0.97 times (2026-11-22, `91143c3`).
"""


def time_s(report):
    return report[0]["mean_us"] / 1e6


def collect(rows):
    times = {what: [time_s(report) for report in rows[what,]] for what in (*LEVELS, "undisturbed", "restarted") if (what,) in rows}
    one, two, three = (times[what] for what in LEVELS)
    return ({"hierarchy_share": records.ratios(one, two), "hierarchy3_share": records.ratios(one, three),
             "uplink_bytes_share": [2 * report["up"] / sum(report["workers"]) for report in rows["bytes",]],
             "hierarchy_restart_s": [a - b for a, b in zip(times["restarted"], times["undisturbed"])]}, {"seconds": times})


def section(data):
    names = {"levels1": "one switch, 2 MB", "levels2": "two levels, 2 MB", "levels3": "three levels, 2 MB",
             "undisturbed": "two levels, one collective", "restarted": "the same, a leaf restarted"}
    rows = [(names[what], Sample(values).spread(4)) for what, values in data["seconds"].items()]
    return "## Trees of switches\n\n" + table(("switches", "an allreduce, s"), rows)
