"""What a switch costs that has nothing to do: what idle.sh measured."""
import records
import rooms
from statistics import median
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars

MEASURES = rooms.WORKERS  # rooms.py

READING = """
Four hosts on veths, one polling lcore, no traffic at all: the daemon's share of a CPU, by its accounted time
(in ticks of 10 ms, so less than 0.005 cannot be told from 0). Then one host pings the switch five times a second:
every ping finds it asleep. As often two hosts begin an allreduce of one packet, both at once. Round trips and allreduces are
medians of all in all runs; ratios are of a run's medians. `max_sleep_us` bounds the sleeps; by default
they last until something is due, 0.1 s at most. "Linux bridge" is the same ping to the
kernel's own bridge.
"""

SETTINGS = {
    "busy": "`max_sleep_us: 0`: busy polling",
    "quick": "`max_sleep_us: 100`",
    "default": "the default",
    "slow": "`max_sleep_us: 10000`",
    "bridge": "Linux bridge",
}
FIGURES = (
    Figure("idle_cpu_default", "With default settings an idle switch takes {:.1%} of a CPU."),
    Figure("idle_cpu_busy", "An idle switch that polls takes {:.1%} of a CPU.", first_screen=False),
    Figure("idle_round_trip_default_vs_busy", "A ping that wakes the switch takes {:.1f} times as long as with busy polling."),
    Figure("idle_round_trip_bridge_vs_busy", "A ping to a Linux bridge takes {:.2f} times as long as to swagg with busy polling.",
           first_screen=False),
)


def measured_rows(directory):
    return {key[0]: group for key, group in records.reports(directory).items()}


def ways(directory):
    rows = measured_rows(directory)

    def trips(name):
        return [median(row["rtt_ms"]) for row in rows[name]]

    found = {f"idle_round_trip_{name}_vs_busy": lambda name=name: records.ratios(trips(name), trips("busy")) for name in rows}
    for name in (name for name in rows if name != "bridge"):
        found[f"idle_cpu_{name}"] = lambda name=name: [run["cpu"] for run in rows[name]]
        found[f"idle_allreduce_us_{name}"] = lambda name=name: [median(run["allreduce_us"]) for run in rows[name]]
    return found


def collect(directory):
    rows = measured_rows(directory)
    settings = []
    for name in SETTINGS:
        row = {"setting": name, "round_trip_us": [1000 * t for run in rows[name] for t in run["rtt_ms"]]}
        if name != "bridge":
            row |= {"cpu": [run["cpu"] for run in rows[name]], "allreduce_us": [t for run in rows[name] for t in run["allreduce_us"]]}
        settings.append(row)
    return {"settings": settings}


def setting_table(data):
    rows = []
    for row in data["settings"]:
        trip = Sample(row["round_trip_us"])
        share, sums = (Sample(row["cpu"]).spread(), f"{Sample(row['allreduce_us']).median:.0f}") if "cpu" in row else ("", "")
        rows.append((SETTINGS[row["setting"]], share, f"{trip.median:.0f}", f"{trip.p90:.0f}", f"{trip.high:.0f}",
                     Sample(data["figures"][f"idle_round_trip_{row['setting']}_vs_busy"]).spread(), sums))
    return table(("setting", "CPUs (extremes)", "median round trip (us)", "90%", "longest", "to busy polling (extremes)",
                  "allreduce (us)"), rows)


def answer(data):
    found = {row["setting"]: row for row in data["settings"]}
    shares = {name: 100 * Sample(found[name]["cpu"]).median for name in ("default", "busy")}
    trips = {name: Sample(found[name]["round_trip_us"]).median for name in ("default", "busy")}
    return (f"With default settings an idle switch takes {shares['default']:.1f}% of a CPU, and a ping that wakes it takes "
            f"{trips['default']:.0f} us; with busy polling {shares['busy']:.0f}% of a CPU, and a ping {trips['busy']:.0f} us.")


def pages(data):
    return {"idle": "\n\n".join([answer(data), "![CPUs and round trips of an idle switch](idle.svg)", figure_table(FIGURES, data),
                                 setting_table(data), "## How it is measured", READING.strip()])}


def plots(data):
    def rows(key):
        return [(SETTINGS[row["setting"]].replace("`", ""), Sample(row[key]), "peer" if row["setting"] == "bridge" else "ours")
                for row in data["settings"] if key in row]

    trips = [(label, Sample({"median": trip.median}), kind) for label, trip, kind in rows("round_trip_us")]
    return {"idle": bars("CPUs and round trips of an idle switch", [
        Panel("CPU time without traffic", "CPUs: less is better", rows=rows("cpu"), digits=3),
        Panel("Round trip of a ping to a switch that sleeps, median", "us, logarithmic: less is better", rows=trips, digits=0, log=True)])}
