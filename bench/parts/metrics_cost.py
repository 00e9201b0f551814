"""What a job has of a switch that is scraped: what metrics_cost.sh measured."""
from figures import Figure, Sample, table

FIGURES = (Figure("metrics_cost", "While `/metrics` is scraped each second a job has {:.1%} of the goodput that it has without.", ">= 0.99"),)

READING = """
**Goodput.** Allreduces of 4 MiB by four hosts over links without a limit (`swagg-perf`), so that CPUs are the limit; who scrapes is a Python process on the same CPUs. With and without take turns,
four of each in a run, each as often first; a run's figure is of the times of all of them.
"""


def mean_us(report):
    if report[0]["wrong"]:
        raise SystemExit("metrics_cost: wrong sums")
    return report[0]["mean_us"]


def collect(rows):
    """Turns are by number; of each a report a run."""
    turns = {what: [runs for (name, _), runs in sorted(rows.items()) if name == what] for what in ("with", "without")}
    totals = {what: [sum(map(mean_us, run)) / len(run) for run in zip(*runs)] for what, runs in turns.items()}
    return {"metrics_cost": [without / scraped for scraped, without in zip(totals["with"], totals["without"])]}, \
        {"times": [{"scraped": what, "ms": [us / 1e3 for us in totals[what]]} for what in ("with", "without")]}


def section(data):
    rows = [({"with": "each second", "without": "never"}[row["scraped"]], Sample(row["ms"]).spread(1)) for row in data["times"]]
    return "## Goodput while it is scraped\n\n" + table(("scraped", "an allreduce of 4 MiB (ms), median (extremes)"), rows)
