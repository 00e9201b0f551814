"""The places that a switch can have beside ordinary ones: what bump.sh measured."""
from figures import Figure, Sample, table
import records

FIGURES = (
    Figure("bump_vs_cable", "Plain TCP on links of 100 Mbit/s gets through swagg {:.1%} of what it gets through a bridge in its place."),
    Figure("bump_vs_cable_cpu", "Where links have no limit and CPUs are the limit, {:.1%}."),
    Figure("bump_ping_vs_cable", "A ping through it takes {:.2f} times as long."),
    Figure("bump_goodput_share", "An allreduce over it gets {:.1%} of a link of 100 Mbit/s."),
    Figure("box_goodput_share", "One over a box with a single port gets {:.1%} of the hosts' links of 100 Mbit/s."),
)

READING = """
A bump in the wire: four hosts on veths, two behind a Linux bridge on either side. Between the two bridges is a third, or swagg with
`conf/bump.yaml`; they take turns in each run. TCP is that of `iperf3` from one side to the other, a ping the median of many 10 ms apart,
on idle links without a limit. Allreduces are `swagg-perf`'s, of 1 MB, with a rank on each host; a link's share is the tensor's bits over
the mean time. The box has one port on the bridge that all hosts are on; its own link has no limit, since it carries the gradients of
all hosts: on a link like theirs it would get a quarter with four of them. Everything runs on one machine, so whatever takes CPU slows
the rest.
"""

LINK = 100e6


def tcp(report):
    return report["end"]["sum_received"]["bits_per_second"]


def share(report):
    return report[0]["bytes"] * 8 / (report[0]["mean_us"] / 1e6) / LINK


def values(rows, key, value):
    return [value(report) for report in rows[key]] if key in rows else []


def collect(rows):
    figures, found = {}, {}
    for limit, figure in (("100mbit", "bump_vs_cable"), ("none", "bump_vs_cable_cpu")):
        found[limit] = {way: values(rows, ("tcp", limit, way), tcp) for way in ("bridge", "swagg")}
        figures[figure] = records.ratios(found[limit]["swagg"], found[limit]["bridge"])
    found["ping_ms"] = {way: values(rows, ("ping", "none", way), lambda report: report["median_ms"]) for way in ("bridge", "swagg")}
    figures["bump_ping_vs_cable"] = records.ratios(found["ping_ms"]["swagg"], found["ping_ms"]["bridge"])
    for where in ("bump", "box"):
        figures[where + "_goodput_share"] = values(rows, ("allreduce", where), share)
    return figures, found


def section(data):
    rows = [("a bridge" if way == "bridge" else "swagg", *(Sample([bits / 1e6 for bits in data[limit][way]]).spread(0) for limit in ("100mbit", "none")),
             Sample(data["ping_ms"][way]).spread(3)) for way in ("bridge", "swagg")]
    return "## Beside ordinary switches\n\n" + table(("between the two bridges", "TCP on 100 Mbit/s, Mbit/s", "TCP without a limit, Mbit/s",
                                                     "ping, ms"), rows)
