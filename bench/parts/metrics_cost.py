"""What a job has of a switch that is scraped: what metrics_cost.sh measured."""
import records
from figures import Figure, Sample, table

WAYS = {"with": "each second", "waking": "never; a process wakes each second", "without": "never"}
FIGURES = (Figure("metrics_cost", "While `/metrics` is scraped each second a job has {:.1%} of the goodput that it has beside a process that wakes each second and asks nobody.", ">= 0.99"),
           Figure("metrics_cost_with_scraper", "Of what it has without any such process on the same CPUs it has {:.1%}."),
           Figure("metrics_cpu", "For that the daemon itself takes {:.2%} of a CPU."))

READING = """
**Goodput.** Allreduces of 4 MiB by four hosts over links without a limit (`swagg-perf`), so that CPUs are the limit; who scrapes is a Python process on the same CPUs, which has scraped once before a
turn begins: to start, Python takes 0.2 s of CPU, 2% of what two CPUs have in a turn. In life it is another machine's, so what the switch's answers cost is seen
beside the same process that wakes and asks nobody. The three take turns, twelve of each in a run, in changing order, since where processes are put on the CPUs decides more and is another with each start; a run's figure is of the times of all of them. The daemon's own part is the CPU time of its thread that answers, by the kernel's count.
"""


def mean_us(report):
    return report[0]["mean_us"]


def collect(rows):
    """Turns are by number; of each a report a run."""
    turns = {what: [runs for (name, _), runs in sorted(rows.items()) if name == what] for what in WAYS}
    totals = {what: [sum(map(mean_us, run)) / len(run) for run in zip(*runs)] for what, runs in turns.items()}
    cpu = [runs for (name, _), runs in rows.items() if name == "cpu_with"]
    own = [sum(turn["ns"] for turn in run) / 1e9 / sum(turn["s"] for turn in run) for run in zip(*cpu)]
    return {"metrics_cpu": own, "metrics_cost": records.ratios(totals["waking"], totals["with"]),
            "metrics_cost_with_scraper": records.ratios(totals["without"], totals["with"])}, \
        {"times": [{"scraped": what, "ms": [us / 1e3 for us in totals[what]]} for what in WAYS]}


def section(data):
    rows = [(WAYS[row["scraped"]], Sample(row["ms"]).spread(1)) for row in data["times"]]
    return "## Goodput while it is scraped\n\n" + table(("scraped", "an allreduce of 4 MiB (ms), median (extremes)"), rows)
