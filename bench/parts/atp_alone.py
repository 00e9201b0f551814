"""One job by ATP: what atp_alone.sh measured."""
import records
from figures import Figure, Sample, table
from parts.atp_reports import goodput, of_link, ratios

FIGURES = (
    Figure("atp_fairness", "Alone, a job by ATP has {:.1%} of the goodput of one in slots of SwitchML's.", ">= 0.97"),
    Figure("atp_link_share", "It uses {:.1%} of a link of 100 Mbit/s.", first_screen=False),
    Figure("atp_no_switch_share", "Where no switch adds, it has {:.1%} of that goodput: the server's link carries every worker's packets.",
           first_screen=False),
    Figure("atp_no_switch_vs_openmpi", "Without a switch that adds, an allreduce by ATP is {:.2f} times as fast as Open MPI's."),
)

READING = """
Three workers and a parameter server (`swagg-ps`, one thread), each on a host with a link of 100 Mbit/s to swagg, both ways (`tbf`, 1 MB of
queue); MTU 1500, segmentation offloads off. Frames that leave the switch behind 50,000 bytes are marked (`ports.ecn_above`). A job sums tensors
of 8 MiB of float with `swagg-perf`, which checks the sums; its goodput is the tensor's bits by the mean time of a call. By either protocol it has 1,024
slots; the switch has 4,096 aggregators. Shares of a link leave framing out: 1,432 bytes of 1,514 are elements (SwitchML's packets: 1,460 of 1,514,
so 98.1% is the most that `atp_fairness` can be). All ways take turns in every run, and ratios are taken within it.

Without a switch that adds: a Linux bridge in the place of swagg. Open MPI 4.1 (`pml ob1`, `btl tcp`) has three ranks on the workers' hosts.
"""

WAYS = {"switchml": "in slots of SwitchML's", "atp": "by ATP", "no_switch": "by ATP, without a switch that adds"}


def openmpi(report):
    return report[0]["bytes"] * 8 / report[0]["median_us"]


def collect(rows):
    of = {key[0]: reports for key, reports in rows.items()}
    mbits = {way: list(map(goodput, of[way])) for way in WAYS} | {"openmpi": list(map(openmpi, of["openmpi"]))}
    return ({"atp_fairness": ratios(of["atp"], of["switchml"]), "atp_link_share": [of_link(x) for x in mbits["atp"]],
             "atp_no_switch_share": ratios(of["no_switch"], of["atp"]),
             "atp_no_switch_vs_openmpi": records.ratios(mbits["no_switch"], mbits["openmpi"])}, {"mbits": mbits})


def section(data):
    words = WAYS | {"openmpi": "Open MPI"}
    return "## One job\n\n" + table(("three workers", "goodput, Mbit/s"),
                                    [(says, Sample(data["mbits"][way]).spread(1)) for way, says in words.items()])
