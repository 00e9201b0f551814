"""Congestion control: what atp_congestion.sh measured."""
from figures import Figure, Sample, table
from parts.atp_reports import CHUNK, LINK, FRAME, goodput, ratios, rows as jobs_of

FIGURES = (
    Figure("atp_control_on_vs_off", "Where the switch passes on half of the chunks, goodput of eight workers with congestion control is {:.2f} times "
           "that without.", ">= 2"),
    Figure("atp_control_on_vs_off_3", "There goodput of three workers with congestion control is {:.2f} times that without.", first_screen=False),
    Figure("atp_beside_tcp_link_share", "A job and a flow of TCP to the server's host use {:.1%} of its link together.", ">= 0.95"),
    Figure("atp_beside_tcp_job", "Of what a job and a flow of TCP get together, {:.1%} is the job's."),
    Figure("atp_beside_tcp_ecn_link_share", "A job and a flow of TCP that heeds marks (ECN) use {:.1%} of the link to the server's host together.",
           first_screen=False),
    Figure("atp_beside_tcp_ecn_job", "Of what a job and a flow of TCP that heeds marks (ECN) get together, {:.1%} is the job's."),
)

READING = """
Congestion: with eight workers, as the paper has them, each on a host of its own, and with three. Without control a job has 1,024 chunks under way (`options.window`), so up to
8,192 or 3,072 packets are on their way to the server's link, whose queue holds some 700. With control it begins with 50, and marks and losses tell it. TCP: one flow of `iperf3` (the kernel's default, cubic, without ECN)
from a fourth host to the server's, whose link both share; frames of both are counted, of TCP's 1,448 bytes of 1,514. What TCP gets is that of the tenths of a
second in which the job works.

How they share: a flow that heeds losses only fills the queue of 1 MB, and every packet of the job meets more than 50,000 bytes there and is marked; so the job's window
halves with each round trip until it is least, and what is left to the job is what TCP leaves. That is what marks are for, and so does every protocol that
heeds them behind a queue that others fill (RFC 8257, section 5, for DCTCP). It is hardly otherwise beside TCP that heeds marks (ECN, `sysctl net.ipv4.tcp_ecn=1`): in a
look it kept 40 to 90 frames waiting, more than are marked from, and the job had 4% beside it, too. So where a job must not wait, let other flows have another queue or link.

With control on and off: of n workers a chunk that is passed on takes n packets on the server's link, so 50% passed on allow 2 / (n + 1) of the link: half of it with three workers, 0.22 with
eight. A job with control has about that, so the ratio says how much is lost without. More workers send more than the server's queue holds, and lose more. With three it was
a tenth to nine tenths in several runs: much hangs on which packets are lost first. At 100 Gb/s it is [simulated](atp_sim.md), with eight workers, too.
"""
TCP_PAYLOAD = 1448
CALLS = 2  # of the job beside TCP
CONTROLLED = {"8": ("eight", ""), "3": ("three", "_3")}  # workers, with control and without


def tcp_mbits(flow, report):
    """Of the intervals that lie within the job's calls."""
    began = flow["start"]["timestamp"]["timesecs"]
    row = jobs_of(report)[0]
    until = report["ended"] - began
    since = until - row["mean_us"] * CALLS / 1e6
    inside = [i["sum"] for i in flow["intervals"] if i["sum"]["start"] >= since and i["sum"]["end"] <= until]
    return sum(i["bytes"] for i in inside) * 8 / 1e6 / sum(i["seconds"] for i in inside)


def collect(rows):
    of = {key[0]: reports for key, reports in rows.items()}
    figures, mbits = {}, {}
    for workers, (says, suffix) in CONTROLLED.items():
        on, off = (rows[way, workers] for way in ("on", "off"))
        figures[f"atp_control_on_vs_off{suffix}"] = ratios(on, off)
        mbits |= {f"{says} workers with congestion control, half passed on": [goodput(r) for r in on], f"{says} without": [goodput(r) for r in off]}
    for flow, says in (("tcp", "TCP"), ("tcp_ecn", "TCP with ECN")):
        job = [goodput(report) for report in of[f"beside_{flow}"]]
        tcp = [tcp_mbits(seen, report) for seen, report in zip(of[flow], of[f"beside_{flow}"])]
        figures |= {f"atp_beside_{flow}_link_share": [(a / CHUNK + b / TCP_PAYLOAD) * FRAME / LINK for a, b in zip(job, tcp)],
                    f"atp_beside_{flow}_job": [a / (a + b) for a, b in zip(job, tcp)]}
        mbits |= {f"a job beside {says}": job, f"{says} beside it": tcp}
    return figures, {"mbits": mbits}


def section(data):
    return "## Congestion\n\n" + table(("what", "goodput, Mbit/s"), [(says, Sample(mbits).spread(1)) for says, mbits in data["mbits"].items()])
