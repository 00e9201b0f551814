"""What losses cost by ATP, beside SwitchML's slots: what atp_loss.sh measured."""
import records
from figures import Figure, Sample, table
from parts.atp_reports import goodput, ratios
from plot import Panel, lines

LOSSES = ("0.001", "0.01", "0.1", "1")  # percent
WAYS = {"atp": ("atp_inflation", "by ATP"), "switchml": ("atp_switchml_inflation", "in slots of SwitchML's")}
AIMS = {"atp_inflation_0.1pct": "<= 1.15"}
FIGURES = tuple(Figure(f"{name}_{loss}pct", f"With {loss}% of frames lost a sum {says} takes {{:.3f}} times as long as without.",
                       AIMS.get(f"{name}_{loss}pct", ""), first_screen=way == "atp" and loss in ("0.1", "1"))
                for way, (name, says) in WAYS.items() for loss in LOSSES)

READING = """
Losses: frames are dropped at random, in both directions of each of the switch's ports. Inflation is the time of a call by that without losses, of the
same protocol in the same run.
"""


def collect(rows):
    return ({f"{name}_{loss}pct": ratios(rows[way, "0"], rows[way, loss]) for way, (name, _) in WAYS.items() for loss in LOSSES
             if (way, loss) in rows},
            {"mbits": {way: {key[1]: [goodput(report) for report in reports] for key, reports in rows.items() if key[0] == way}
                       for way in WAYS}})


def section(data):
    rows = [(f"{loss}%", *(Sample(data["mbits"][way][loss]).spread(1) for way in WAYS)) for loss in sorted(data["mbits"]["atp"], key=float)]
    return ("## Losses\n\n![Inflation by loss rate](atp_loss.svg)\n\n"
            + table(("frames lost", *(f"{says}, Mbit/s" for _, says in WAYS.values())), rows))


def inflation(data, way, loss):
    return Sample(records.ratios(data["mbits"][way]["0"], data["mbits"][way][loss]))


def plots(data):
    losses = [loss for loss in sorted(data["mbits"]["atp"], key=float) if loss != "0"]
    series = [(name, kind, [(float(loss), inflation(data, way, loss)) for loss in losses])
              for way, name, kind in (("atp", "ATP", "ours"), ("switchml", "SwitchML", "peer"))]
    return {"atp_loss": lines("ATP: inflation by loss rate", [
        Panel("Three workers, links of 100 Mbit/s", "time by the time without loss", series=series,
              x_ticks=[(float(loss), f"{loss}%") for loss in losses], x_unit="frames lost", floor=0.9)])}
