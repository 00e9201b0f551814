"""How fast an allreduce is beside Open MPI: what allreduce.sh measured."""
from functools import partial

import records
import rooms
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars

MEASURES = rooms.MPI  # rooms.py

RATE = 200e6  # bits a second
MTU = 1500
ELEMENTS = (MTU - 20 - 8 - 10) // 4  # of 4 bytes, in a packet
FRAME = 14 + 20 + 8 + 10 + 4 * ELEMENTS  # bytes that tbf counts
FRAMING = 4 * ELEMENTS / FRAME

NAMES = {
    "openmpi": "Open MPI, Linux bridge",
    "openmpi_ring": "Open MPI told to use its ring, Linux bridge",
    "openmpi_merging": "Open MPI, Linux bridge whose ports merge frames",
    "openmpi_through_swagg": "Open MPI, switched by swagg",
    "swagg": "swagg",
    "swagg_one_lcore": "swagg, one polling lcore",
    "swagg_af_packet": "swagg, over DPDK's net_af_packet",
    "swagg_loss_0.1pct": "swagg, 0.1% loss on every link and direction",
    "swagg_loss_1pct": "swagg, 1% loss on every link and direction",
}
SETTINGS = {"200mbit": "20 MiB, links of 200 Mbit/s", "cpu": "16 MiB, links without a limit"}

READING = """
Four hosts, one rank each, float, MTU 1500, segmentation offloads off, so that frames are real frames. The baseline is native Open
MPI 4.1 (`pml ob1`, `btl tcp`) over a plain Linux bridge between the same hosts, with the same limits. By itself Open MPI does not
choose its fastest allreduce at this size; `..._ring` compares with its ring (`coll_tuned_allreduce_algorithm 4`);
the best of all its algorithms is found and compared with in [numbers.md](numbers.md).
`tbf` limits the links in both directions. Through the shim all calls go to the switch (`SWAGG_MIN_BYTES`). A time is that of the slowest rank. All variants take turns in every run, and a ratio is
taken within each run. More is better, except for `loss_inflation`: the time with random losses on every link and direction over the
time without ([loss.md](loss.md) has more on that). `wire_share` is goodput over what framing leaves of the link's rate: {elements}
floats in a frame of {frame} bytes, {framing:.1%}.

CPU time is that of a call, of all ranks together (with all their threads, and what the kernel does for them), and of swagg. What a bridge does
is done by the kernel for whoever sends, so it is in the hosts' time. Where hosts and switch share two CPUs, who takes less of it is faster. A rank of
Open MPI's polls while it waits, so over links with a limit its time is that of waiting.

The daemon has its default settings: a polling lcore for two CPUs; `..._one_lcore` gives it one. Its ports are kernel interfaces
(`kernel:NAME`). While it runs it switches on generic receive offload for them, so that the kernel hands over several frames merged
into one. The hosts' and the bridge's interfaces have it off, as veths have by default; `..._merging` compares with a bridge whose
ports have it on, too. `..._af_packet` uses DPDK's driver for the ports.
""".format(elements=ELEMENTS, frame=FRAME, framing=FRAMING)

# Ratios of times: the figure, setting, collective, over, under.
LIMITED, FREE = "Over links of 200 Mbit/s", "Over links without a limit"
FASTER = "{:.2f} times as fast as"
RATIOS = (
    (Figure("allreduce_200mbit_vs_openmpi", f"{LIMITED} an allreduce is {FASTER} Open MPI's.", ">= 2.0"),
     "200mbit", "allreduce", "openmpi", "swagg"),
    (Figure("allreduce_200mbit_vs_openmpi_ring", f"{LIMITED} an allreduce is {FASTER} Open MPI's ring."),
     "200mbit", "allreduce", "openmpi_ring", "swagg"),
    (Figure("reduce_200mbit_vs_openmpi", f"{LIMITED} a reduce is {FASTER} Open MPI's.", ">= 2.5"),
     "200mbit", "reduce", "openmpi", "swagg"),
    (Figure("allreduce_cpu_vs_openmpi", f"{FREE}, where CPUs are the limit, an allreduce is {FASTER} Open MPI's.", ">= 1.2"),
     "cpu", "allreduce", "openmpi", "swagg"),
    (Figure("allreduce_cpu_vs_openmpi_ring", f"{FREE} an allreduce is {FASTER} Open MPI's ring."),
     "cpu", "allreduce", "openmpi_ring", "swagg"),
    (Figure("allreduce_cpu_vs_openmpi_merging", f"{FREE} an allreduce is {FASTER} Open MPI's on a bridge that merges frames."),
     "cpu", "allreduce", "openmpi_merging", "swagg"),
    (Figure("allreduce_cpu_one_lcore_vs_openmpi", f"With one polling lcore it is {FASTER} Open MPI's.", first_screen=False),
     "cpu", "allreduce", "openmpi", "swagg_one_lcore"),
    (Figure("allreduce_cpu_af_packet_vs_openmpi", f"{FREE}, with DPDK's driver for the ports, an allreduce is {FASTER} Open MPI's."),
     "cpu", "allreduce", "openmpi", "swagg_af_packet"),
    (Figure("reduce_cpu_vs_openmpi", f"{FREE} a reduce is {FASTER} Open MPI's."),
     "cpu", "reduce", "openmpi", "swagg"),
    (Figure("loss_inflation_0.1pct", "With 0.1% loss an allreduce takes {:.3f} times as long as without.", "< 1.1", first_screen=False),
     "200mbit", "allreduce", "swagg_loss_0.1pct", "swagg"),
    (Figure("loss_inflation_1pct", "With 1% loss an allreduce takes {:.3f} times as long as without.", "< 1.5", first_screen=False),
     "200mbit", "allreduce", "swagg_loss_1pct", "swagg"),
    (Figure("openmpi_through_swagg_vs_bridge", f"{LIMITED} Open MPI's own TCP through swagg is {FASTER} through a Linux bridge."),
     "200mbit", "allreduce", "openmpi", "openmpi_through_swagg"),
    (Figure("openmpi_through_swagg_vs_bridge_cpu", f"{FREE} Open MPI's own TCP through swagg is {FASTER} through a Linux bridge.", ">= 0.7"),
     "cpu", "allreduce", "openmpi", "openmpi_through_swagg"),
)
WIRE_SHARE = Figure("allreduce_200mbit_wire_share", "An allreduce uses {:.1%} of the rate of a link of 200 Mbit/s.", ">= 0.95")
HOSTS_CPU = Figure("allreduce_cpu_seconds_hosts_vs_openmpi", f"{FREE} an allreduce takes {{:.2f}} times the CPU time of Open MPI's on the hosts.")
ALL_CPU = Figure("allreduce_cpu_seconds_vs_openmpi", f"{FREE} hosts and switch together take {{:.2f}} times the CPU time of Open MPI's.")
FIGURES = (WIRE_SHARE, *(ratio[0] for ratio in RATIOS), HOSTS_CPU, ALL_CPU)


def cpu_us(row):
    """Of hosts and switch."""
    return row["cpu_us"] + row["switch_cpu_us"]


def seconds_of(group):
    return [row["median_us"] / 1e6 for row in group]


def measured_rows(directory):
    return {key[:-1]: group for key, group in records.mpi_perf(directory).items()}


def ways(directory):
    rows = measured_rows(directory)

    def wire():
        return [row["bytes"] * 8 / (row["median_us"] / 1e6) / (RATE * FRAMING) for row in rows["200mbit", "swagg", "allreduce"]]

    def ratio(setting, op, over, under):
        return records.ratios(*(seconds_of(rows[setting, variant, op]) for variant in (over, under)))

    def hosts_cpu():
        return records.ratios(*([row["cpu_us"] for row in rows["cpu", variant, "allreduce"]] for variant in ("swagg", "openmpi")))

    def all_cpu():
        return records.ratios(*([cpu_us(row) for row in rows["cpu", variant, "allreduce"]] for variant in ("swagg", "openmpi")))

    return {WIRE_SHARE.name: wire, **{figure.name: partial(ratio, *what) for figure, *what in RATIOS},
            HOSTS_CPU.name: hosts_cpu, ALL_CPU.name: all_cpu}


def collect(directory):
    rows = measured_rows(directory)
    seconds = {key: seconds_of(group) for key, group in rows.items()}
    times = [{"setting": setting, "op": op, "variant": variant, "seconds": seconds[setting, variant, op],
              "hosts_cpu_ms": [row["cpu_us"] / 1e3 for row in group], "switch_cpu_ms": [row["switch_cpu_us"] / 1e3 for row in group],
              "gbit_s": [group[0]["bytes"] * 8 / taken / 1e9 for taken in seconds[setting, variant, op]]}
             for (setting, variant, op), group in sorted(rows.items(), key=lambda item: list(SETTINGS).index(item[0][0]))]
    return {"times": times}


def time_table(data):
    rows = [(f"{row['op']}, {SETTINGS[row['setting']]}: {NAMES[row['variant']]}", Sample(row["seconds"]).spread(),
             Sample(row["gbit_s"]).spread().split(" ")[0], *(f"{Sample(row[key]).median:.0f}" for key in ("hosts_cpu_ms", "switch_cpu_ms"))) for row in data["times"]]
    return table(("what", "time (s), median (extremes)", "algbw (Gbit/s)", "CPU of all hosts (ms)", "CPU of swagg (ms)"), rows)


def answer(data):
    def seconds(setting, op, variant):
        return next(Sample(row["seconds"]).median for row in data["times"]
                    if (row["setting"], row["op"], row["variant"]) == (setting, op, variant))

    def pair(setting, op, digits):
        return f"{seconds(setting, op, 'swagg'):.{digits}f} s with swagg and {seconds(setting, op, 'openmpi'):.{digits}f} s with Open MPI"

    return (f"Over links of 200 Mbit/s an allreduce of 20 MiB on four hosts takes {pair('200mbit', 'allreduce', 2)}, a reduce "
            f"{pair('200mbit', 'reduce', 2)}. Without a limit on the links, where hosts and switch share the same CPUs, an allreduce of "
            f"16 MiB takes {pair('cpu', 'allreduce', 3)}.")


def pages(data):
    return {"allreduce": "\n\n".join([
        answer(data), "![Times of allreduce and reduce with swagg and with Open MPI](allreduce.svg)",
        figure_table(FIGURES, data), time_table(data), "## How it is measured", READING.strip()])}


def plots(data):
    panels = []
    for setting, words in SETTINGS.items():
        chosen = sorted((row for row in data["times"] if row["setting"] == setting),
                        key=lambda row: (row["op"], list(NAMES).index(row["variant"])))
        rows = [(f"{row['op']}: {NAMES[row['variant']]}", Sample(row["seconds"]), "ours" if row["variant"].startswith("swagg") else "peer")
                for row in chosen]
        panels.append(Panel(words, "seconds, slowest rank: less is better", rows=rows, digits=2 if setting == "200mbit" else 3))
    return {"allreduce": bars("Times of allreduce and reduce", panels)}
