"""Several ranks a host: what hosts.sh measured."""
from functools import partial
from statistics import geometric_mean

import best
import records
import rooms
from best import size_name
from figures import Figure, Sample, figure_table, table
from plot import Panel, bars

MEASURES = (*rooms.MPI, "lib/core/local")  # rooms.py

SETTINGS = {"200mbit": "four ranks on each of four hosts, 4 MiB, links of 200 Mbit/s", "cpu": "four ranks on each of four hosts, 16 MiB, links without a limit",
            "cpu_1": "one rank on each of four hosts, 16 MiB, links without a limit"}
VARIANTS = {"openmpi": "Open MPI", "best": "Open MPI, the best that was tried", "flat": "swagg, each rank for itself", "swagg": "swagg"}
THREADS = {"threads_100mbit": "links of 100 Mbit/s, 4 MiB", "threads_cpu": "links without a limit, 16 MiB"}
LINKS = {"one_50mbit": "one link of 50 Mbit/s, one switch", "two_50mbit": "two of these, a switch at each",
         "one_100mbit": "one link of 100 Mbit/s, one switch", "two_100mbit": "two of these, a switch at each",
         "slow": "one link of 25 Mbit/s", "fast": "one of 75", "uneven": "these two, a switch at each"}
ONE = {"openmpi": "Open MPI", "ucx": "Open MPI over UCX", "swagg": "swagg"}
PARTS = ("small", "middle", "large")
RANKS_OF_CPU_1 = 4
TENSOR = 16 << 20  # of the memory's record

READING = """
Hosts are four network namespaces of one machine with their links, MTU 1500, segmentation offloads off; their ranks and the switch share its CPUs. All calls are
allreduces of float by `mpi-perf`, a time is that of the slowest rank, the median of the calls, and what calls give is compared with what must come out. Ranks are placed host by host, as mpirun does by
itself. Open MPI 4.1 goes over a Linux bridge between the same hosts with the same limits, between ranks of a host by shared memory (`vader`). The best of it is
the fastest of `coll_tuned`'s algorithms and of `coll_han`'s ways, which have a level within a host, too. It is found in the first run: all on 4 MiB, and the two fastest of them again in full; where
what Open MPI chooses by itself is faster in a run, that is the best. Through the shim all calls go
to swagg (`SWAGG_MIN_BYTES`), with its defaults, or with `SWAGG_LOCAL=off`. All variants take turns in each run, and a ratio is taken within each run.

CPU time is user's and system's of all ranks together, with all their threads, for a call. Open MPI's ranks poll while they wait, so that waiting counts, too. The switch's own is beside it: it is another machine in life.

Two links: each of the four hosts has another one, in a subnet of its own, to a second switch on the same CPUs (`SWAGG_SWITCH` names both).

Threads: one rank on each of four hosts, with `SWAGG_THREADS` of 1, 2 and 4; with the switch there are then up to 17 threads on the CPUs. Gbit/s a core are the bits of the tensors of all ranks, which go
up and come down once each, by the CPU time of all ranks.

One host: four ranks, 8 bytes to 64 MiB, the median of 1,000 calls up to 32 KiB, of 20 up to 2 MiB, and of 3 beyond, as Open MPI chooses its algorithms. Over UCX it has
that one's shared memory (`pml ucx`, `UCX_TLS=self,sm`). In each run the three take five turns, each with new processes, which the kernel puts elsewhere on the CPUs; a ratio is
taken within each turn. The mean over the sizes is geometric; the worst size is the least of the medians of all sizes.
"""
FASTER = "{:.2f} times as fast as"
SLOW, FREE = "With four ranks on each of four hosts, links of 200 Mbit/s,", "With four ranks on each of four hosts, links without a limit,"
# Ratios of times, within each run: the figure, setting, over, under.
RATIOS = (
    (Figure("hosts_4x4_200mbit_vs_flat", f"{SLOW} an allreduce of 4 MiB is {FASTER} with each rank for itself.", ">= 3.5"), "200mbit", "flat", "swagg"),
    (Figure("hosts_4x4_200mbit_vs_best", f"{SLOW} it is {FASTER} the best of Open MPI's.", ">= 1.5"), "200mbit", "best", "swagg"),
    (Figure("hosts_4x4_cpu_vs_flat", f"{FREE} an allreduce of 16 MiB is {FASTER} with each rank for itself.", first_screen=False), "cpu", "flat", "swagg"),
    (Figure("hosts_4x4_cpu_vs_best", f"{FREE} it is {FASTER} the best of Open MPI's."), "cpu", "best", "swagg"),
)
# The same of the hosts' CPU time: the figure, setting.
CPU = (
    (Figure("host_cpu_1_rank_vs_openmpi", "With one rank on each of four hosts, the best of Open MPI's takes {:.2f} times swagg's CPU time on the hosts for an allreduce of 16 MiB."), "cpu_1"),
    (Figure("host_cpu_4_ranks_vs_openmpi", "With four ranks on each, it takes {:.2f} times swagg's."), "cpu"),
)
HOST_CPU = Figure("host_cpu_vs_openmpi", "With one and with four ranks a host, the best of Open MPI's takes {:.2f} times swagg's CPU time on the hosts, where that is least.", ">= 1.5")
ONE_HOST = (
    Figure("one_host_vs_openmpi", f"Of four ranks on one host, an allreduce of 8 bytes to 64 MiB is {FASTER} Open MPI's, in the mean.", ">= 1.0"),
    Figure("one_host_worst_vs_openmpi", f"The size that compares worst is {FASTER} Open MPI's.", ">= 0.8"),
    Figure("one_host_vs_ucx", f"Beside Open MPI over UCX's shared memory it is {FASTER} that, in the mean."),
    Figure("one_host_worst_vs_ucx", f"Beside UCX, the size that compares worst is {FASTER} it.", first_screen=False),
)
THREADS_FLAT = Figure("threads_flat", f"With two threads a rank, links of 100 Mbit/s that one fills, an allreduce of 4 MiB is {FASTER} with one.", ">= 0.95")
THREADS_CPU = Figure("threads_cpu_2_vs_1", f"With two threads a rank, links without a limit, hosts and switch on the same CPUs, an allreduce of 16 MiB is {FASTER} with one.", first_screen=False)
SOCKETS = Figure("rank_gbits_per_core_sockets", "By the kernel's sockets a rank sums {:.2f} Gbit/s for each CPU that it keeps busy, links without a limit.", first_screen=False)
TWO_LINKS = Figure("two_links_vs_one", f"With two links of 50 Mbit/s a host, each to a switch of its own, an allreduce of 4 MiB is {FASTER} with one of them.", ">= 1.9")
TWO_FAST_LINKS = Figure("two_links_100mbit_vs_one", f"With two links of 100 Mbit/s it is {FASTER} with one of them; hosts and both switches share this machine's CPUs.")
UNEVEN_LINKS = Figure("uneven_links_of_sum", "With two links of 25 and 75 Mbit/s a host, each to a switch of its own, an allreduce of 4 MiB gets {:.1%} of what each of them gets alone, together.", ">= 0.95")
SHARED = Figure("host_shared_bytes_per_rank_and_tensor", "Ranks of one host share memory that is, for each of four, {:.2f} times a tensor of 16 MiB.", first_screen=False)
FIGURES = (*(ratio[0] for ratio in RATIOS), HOST_CPU, *(row[0] for row in CPU), THREADS_FLAT, THREADS_CPU, SOCKETS, TWO_LINKS, TWO_FAST_LINKS, UNEVEN_LINKS, *ONE_HOST, SHARED)


def calls(reports):
    """{(setting, variant): [row of mpi-perf, one a run]}"""
    return {key[:2]: [rows[0] for rows in runs] for key, runs in reports.items() if key[0] in SETTINGS and key[1] in VARIANTS}


def links_of(reports):
    """{variant: [milliseconds, one a run]}"""
    return {variant: [rows[0]["median_us"] / 1e3 for rows in reports["links", variant, "allreduce"]] for variant in LINKS
            if ("links", variant, "allreduce") in reports}


def threads_of(reports):
    """{(setting, threads): [milliseconds, one a run]}"""
    return {key[:2]: [rows[0]["median_us"] / 1e3 for rows in runs] for key, runs in reports.items() if key[0] in THREADS}


def sizes_of(reports):
    """{bytes: {variant: [microseconds, one a turn]}}"""
    by_size = {}
    for (variant, _, _), runs in sorted((key[1:], runs) for key, runs in reports.items() if key[0] == "one" and key[2] in PARTS):
        for row in (row for rows in runs for row in rows):
            by_size.setdefault(row["bytes"], {}).setdefault(variant, []).append(row["median_us"])
    return dict(sorted(by_size.items()))


def ways(directory):
    reports = records.reports(directory)
    rows, sizes = calls(reports), sizes_of(reports)

    def taken(setting, variant, what):
        return best.least(variant, lambda way: [row[what] for row in rows[setting, way]])

    def ratio(setting, over, under, what="median_us"):
        return records.ratios(*(taken(setting, variant, what) for variant in (over, under)))

    def two_links(rate):
        times = links_of(reports)
        return records.ratios(times[f"one_{rate}"], times[f"two_{rate}"])

    def uneven_links():
        times = links_of(reports)
        return [1 / (both / slow + both / fast) for slow, fast, both in zip(times["slow"], times["fast"], times["uneven"], strict=True)]

    def threads(setting):
        times = threads_of(reports)
        return records.ratios(*(times[setting, count] for count in ("1", "2")))

    def sockets():
        return [row["bytes"] * 8 * RANKS_OF_CPU_1 / row["cpu_us"] / 1e3 for row in rows["cpu_1", "swagg"]]

    def cpu(setting):
        return ratio(setting, "best", "swagg", "cpu_us")

    def least_cpu():
        return [min(pair) for pair in zip(*(cpu(setting) for _, setting in CPU))]

    def by_size(peer):
        if not sizes:
            raise LookupError("no sizes")
        return [records.ratios(times[peer], times["swagg"]) for times in sizes.values()]

    def mean(peer):
        return [geometric_mean(run) for run in zip(*by_size(peer), strict=True)]

    def worst(peer):
        return min(Sample(speeds).median for speeds in by_size(peer))

    def shared():
        memory = reports["one", "memory", "shared"][0]
        return memory["bytes"] / memory["ranks"] / TENSOR

    made = {figure.name: partial(ratio, *what) for figure, *what in RATIOS} | {figure.name: partial(cpu, *what) for figure, *what in CPU}
    made |= {HOST_CPU.name: least_cpu, TWO_LINKS.name: partial(two_links, "50mbit"), TWO_FAST_LINKS.name: partial(two_links, "100mbit"), UNEVEN_LINKS.name: uneven_links, THREADS_FLAT.name: partial(threads, "threads_100mbit"), THREADS_CPU.name: partial(threads, "threads_cpu"), SOCKETS.name: sockets, SHARED.name: shared}
    return made | {figure.name: partial(way, peer) for figure, (way, peer) in
                   zip(ONE_HOST, ((mean, "openmpi"), (worst, "openmpi"), (mean, "ucx"), (worst, "ucx")))}


def collect(directory):
    reports = records.reports(directory)
    rows = calls(reports)
    times = [{"setting": setting, "variant": variant, **{name: [row[key] / 1e3 for row in rows[setting, variant]] for name, key in
                                                        (("ms", "median_us"), ("hosts_cpu_ms", "cpu_us"), ("switch_cpu_ms", "switch_cpu_us"))}}
             for setting in SETTINGS for variant in VARIANTS if (setting, variant) in rows]
    return {"times": times, "links": links_of(reports),
            "threads": [{"setting": setting, "threads": int(count), "ms": ms} for (setting, count), ms in sorted(threads_of(reports).items())],
            "sizes": [{"bytes": size, **us} for size, us in sizes_of(reports).items()], "memory": reports["one", "memory", "shared"][0],
            "tried": best.candidates_of(reports)}


def answer(data):
    def ms(variant):
        return next(Sample(row["ms"]).median for row in data["times"] if (row["setting"], row["variant"]) == ("200mbit", variant))

    return (f"Ranks of one host are summed in memory first, so that a host sends each number once. With four ranks on each of four hosts, over links of 200 Mbit/s, an allreduce of 4 MiB takes "
            f"{ms('swagg'):.0f} ms, {ms('flat'):.0f} ms where each rank is for itself, and {min(map(ms, best.WAYS['best'])):.0f} ms with the best of Open MPI's. On one host alone nothing goes over a "
            f"network, and an allreduce is {Sample(data['figures'][ONE_HOST[0].name]).median:.2f} times as fast as Open MPI's in the mean of all sizes. How it works: [hosts](../libswagg.md#ranks-of-one-host).")


def time_table(data):
    rows = [(SETTINGS[row["setting"]], VARIANTS[row["variant"]], Sample(row["ms"]).spread(1), f"{Sample(row['hosts_cpu_ms']).median:.0f}", f"{Sample(row['switch_cpu_ms']).median:.0f}")
            for row in data["times"]]
    return table(("where", "what", "time (ms), median (extremes)", "CPU of all ranks (ms)", "CPU of swagg (ms)"), rows, "llrrr")


def link_table(data):
    return table(("what", "time (ms), median (extremes)"), [(LINKS[variant], Sample(ms).spread(1)) for variant, ms in data["links"].items()], "lr")


def thread_table(data):
    rows = [(THREADS[row["setting"]], row["threads"], Sample(row["ms"]).spread(1)) for row in data["threads"]]
    return table(("where", "threads of a rank", "time (ms), median (extremes)"), rows, "lrr")


def size_table(data):
    rows = [(size_name(row["bytes"]), *(f"{Sample(row[variant]).median:.1f}" for variant in ONE),
             *(f"{Sample(records.ratios(row[peer], row['swagg'])).median:.2f}" for peer in ("openmpi", "ucx"))) for row in data["sizes"]]
    return table(("tensor", *(f"{words} (us)" for words in ONE.values()), "its speed by Open MPI's", "by UCX's"), rows)


def memory_line(data):
    memory = data["memory"]
    return f"Ranks of a host share {memory['bytes'] / (1 << 20):.1f} MiB, of whatever length tensors are: {memory['bytes'] / memory['ranks'] / (1 << 20):.1f} MiB for each of {memory['ranks']}."


def pages(data):
    return {"hosts": "\n\n".join([answer(data), "![Times of an allreduce of four ranks on each of four hosts](hosts.svg)", figure_table(FIGURES, data), time_table(data),
                                  "One rank on each of four hosts with one link or two, 4 MiB:", link_table(data), "One rank on each of four hosts:", thread_table(data), "Four ranks on one host, by size:", size_table(data), memory_line(data), "What was tried to find Open MPI's best:",
                                  best.tried_table(data["tried"], SETTINGS), "## How it is measured", READING.strip()])}


def plots(data):
    panels = [Panel(words, "ms: less is better", digits=0, rows=[(VARIANTS[row["variant"]], Sample(row["ms"]), "ours" if row["variant"] in ("flat", "swagg") else "peer")
                                                                 for row in data["times"] if row["setting"] == setting]) for setting, words in SETTINGS.items()]
    return {"hosts": bars("Several ranks on a host", panels)}
