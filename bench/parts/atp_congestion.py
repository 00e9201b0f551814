"""Congestion control: what atp_congestion.sh measured."""
from figures import Figure, Sample, table
from parts.atp_reports import LINK, FRAME, goodput, ratios, rows as jobs_of

FIGURES = (
    Figure("atp_control_on_vs_off", "Where the switch passes on half of the chunks, goodput with congestion control is {:.2f} times that without.",
           ">= 2"),
    Figure("atp_beside_tcp_link_share", "A job and a flow of TCP to the server's host use {:.1%} of its link together.", ">= 0.95"),
    Figure("atp_beside_tcp_job", "Of what both get, {:.1%} is the job's.", first_screen=False),
)

READING = """
Congestion: without control a job has 1,024 chunks under way (`options.window`), so up to 3,072 packets are on their way to the server's link, whose queue
holds some 700. With control it begins with 50, and marks and losses tell it. TCP: one flow of `iperf3` (the kernel's default, cubic, without ECN)
from a fourth host to the server's, whose link both share; frames of both are counted, of TCP's 1,448 bytes of 1,514. What TCP gets is that of the tenths of a
second in which the job works.
"""
TCP_PAYLOAD = 1448
CALLS = 2  # of the job beside TCP


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
    job = [goodput(report) for report in of["beside_tcp"]]
    tcp = [tcp_mbits(flow, report) for flow, report in zip(of["tcp"], of["beside_tcp"])]
    share = [(a / 1432 + b / TCP_PAYLOAD) * FRAME / LINK for a, b in zip(job, tcp)]
    return ({"atp_control_on_vs_off": ratios(of["on"], of["off"]), "atp_beside_tcp_link_share": share,
             "atp_beside_tcp_job": [a / (a + b) for a, b in zip(job, tcp)]},
            {"mbits": {"with congestion control, half passed on": [goodput(r) for r in of["on"]],
                       "without": [goodput(r) for r in of["off"]], "a job beside TCP": job, "TCP beside it": tcp}})


def section(data):
    return "## Congestion\n\n" + table(("what", "goodput, Mbit/s"), [(says, Sample(mbits).spread(1)) for says, mbits in data["mbits"].items()])
