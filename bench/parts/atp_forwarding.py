"""What it costs when the switch cannot add: what atp_forwarding.sh measured."""
from figures import Figure, Sample, table
from parts.atp_reports import WORKERS, goodput
from plot import Panel, lines

SHARES = ("0", "0.25", "0.5", "0.75", "1")
FIGURES = tuple(
    Figure(f"atp_at_{round(float(share) * 100)}pct_vs_model", f"Where the switch passes on {float(share):.0%} of the chunks, goodput is {{:.1%}} of "
           "what the bytes on the server's link allow.", ">= 0.9" if share == "0.5" else "", first_screen=share == "0.5")
    for share in SHARES[1:])

READING = """
Forwarding: `atp.forward` has the switch pass on this share of the chunks, each of a chunk's packets alone, as if another job had its
aggregator. The model: of a chunk that is added in the switch one packet goes down the server's link, of one that is passed on as many as
there are workers, n; all results leave by multicast. So goodput is that without forwarding by 1 + f (n - 1), where f is the share: the paper's
figure 8 in formula.
"""


def model(share):
    return 1 / (1 + float(share) * (WORKERS - 1))


def collect(rows):
    mbits = {share: [goodput(report) for report in rows[share,]] for share in SHARES}
    sent = {share: [report["to_server"] / report["from_server"] for report in rows[share,]] for share in SHARES}
    return ({f"atp_at_{round(float(share) * 100)}pct_vs_model": [now / (full * model(share)) for now, full in zip(mbits[share], mbits["0"])]
             for share in SHARES[1:]}, {"mbits": mbits, "bytes_in_by_out": sent})


def section(data):
    full = Sample(data["mbits"]["0"]).median
    rows = [(f"{float(share):.0%}", Sample(data["mbits"][share]).spread(1), f"{full * model(share):.1f}",
             Sample(data["bytes_in_by_out"][share]).spread(2)) for share in SHARES]
    return ("## Chunks that the switch passes on\n\n![Goodput by the share of chunks that the switch passes on](atp_forwarding.svg)\n\n"
            + table(("share passed on", "goodput, Mbit/s", "model", "bytes to the server, by those from it"), rows))


def plots(data):
    full = Sample(data["mbits"]["0"]).median
    series = [("measured", "ours", [(float(share), Sample(data["mbits"][share])) for share in SHARES]),
              ("model", "peer", [(float(share), Sample(full * model(share))) for share in SHARES])]
    return {"atp_forwarding": lines("ATP: goodput by the share of chunks that the switch passes on", [
        Panel("Three workers, links of 100 Mbit/s", "goodput, Mbit/s", series=series, x_log=False,
              x_ticks=[(float(share), f"{float(share):.0%}") for share in SHARES], x_unit="chunks passed on")])}
