"""Types, numbers on the wire, many tensors, and every size beside the best of Open MPI: what numbers.sh measured."""
import collections
import json
from functools import partial

import best
import records
import rooms
from best import size_name
from figures import Figure, Sample, figure_table, found, table
from plot import Panel, lines

MEASURES = (*rooms.MPI, "lib/core/numbers", "bench/operations.c")  # rooms.py

SETTINGS = {"200mbit": "links of 200 Mbit/s", "cpu": "links without a limit"}
SEARCHED = {**SETTINGS, "200mbit_8": "links of 200 Mbit/s, eight hosts", "50mbit_16": "links of 50 Mbit/s, sixteen hosts"}
PLAYED = {**SEARCHED, "100mbit_8": "links of 100 Mbit/s, eight hosts"}
PARTS = {"small": "up to 64 KiB", "middle": "256 KiB and 1 MiB", "large": "4 MiB and more"}
LIMITED, FREE = "Over links of 200 Mbit/s", "Over links without a limit"
EIGHT, SIXTEEN = "With eight hosts on links of 200 Mbit/s", "With sixteen hosts on links of 50 Mbit/s"
FASTER = "{:.2f} times as fast as"

# Ratios of times, within each run: the figure, setting, operation, over, under.
RATIOS = (
    (Figure("allreduce_200mbit_vs_best", f"{LIMITED} an allreduce of 20 MiB is {FASTER} the best of Open MPI's."),
     "200mbit", "allreduce", "best", "swagg"),
    (Figure("reduce_200mbit_vs_best", f"{LIMITED} a reduce of 20 MiB is {FASTER} the best of Open MPI's."),
     "200mbit", "reduce", "best", "swagg"),
    (Figure("allreduce_200mbit_8_hosts_vs_best", f"{EIGHT} an allreduce of 20 MiB is {FASTER} the best of Open MPI's."),
     "200mbit_8", "allreduce", "best", "swagg"),
    (Figure("reduce_200mbit_8_hosts_vs_best", f"{EIGHT} a reduce of 20 MiB is {FASTER} the best of Open MPI's."),
     "200mbit_8", "reduce", "best", "swagg"),
    (Figure("allreduce_50mbit_16_hosts_vs_best", f"{SIXTEEN} an allreduce of 20 MiB is {FASTER} the best of Open MPI's."),
     "50mbit_16", "allreduce", "best", "swagg"),
    (Figure("reduce_50mbit_16_hosts_vs_best", f"{SIXTEEN} a reduce of 20 MiB is {FASTER} the best of Open MPI's."),
     "50mbit_16", "reduce", "best", "swagg"),
    (Figure("allreduce_200mbit_vs_openmpi", f"{LIMITED} an allreduce of 20 MiB is {FASTER} what Open MPI chooses.", first_screen=False),
     "200mbit", "allreduce", "openmpi", "swagg"),
    (Figure("reduce_200mbit_vs_openmpi", f"{LIMITED} a reduce of 20 MiB is {FASTER} what Open MPI chooses.", first_screen=False),
     "200mbit", "reduce", "openmpi", "swagg"),
    (Figure("allreduce_cpu_vs_openmpi", f"{FREE} an allreduce of 16 MiB is {FASTER} what Open MPI chooses.", first_screen=False),
     "cpu", "allreduce", "openmpi", "swagg"),
    (Figure("allreduce_cpu_vs_best", f"{FREE} an allreduce of 16 MiB is {FASTER} the best of Open MPI's."),
     "cpu", "allreduce", "best", "swagg"),
)
# How near ours comes to what framing leaves of the links, whatever a peer does: the figure, setting, operation.
BOUNDS = tuple(
    (Figure(f"{op}_{name}_of_bound", f"{where} {'an' if op == 'allreduce' else 'a'} {op} of 20 MiB reaches {{:.1%}} of what framing leaves of the links.", ">= 0.97"),
     setting, op)
    for name, setting, where in (("200mbit", "200mbit", LIMITED), ("200mbit_8_hosts", "200mbit_8", EIGHT), ("100mbit_8_hosts", "100mbit_8", EIGHT.replace("200", "100")),
                                 ("50mbit_16_hosts", "50mbit_16", SIXTEEN))
    for op in ("allreduce", "reduce"))
# The same of elements a second, through libswagg: the figure, over, under.
SPEEDS = (
    (Figure("scaling_overhead", "Floats that travel as SwitchML's int32 take {:.3f} times as long as floats.", "<= 1.05"),
     "float_native", "float_int32"),
    (Figure("bf16_vs_f32", "Of bfloat16, {:.2f} times as many elements are summed in a second as of float.", ">= 1.9"),
     "bfloat16_native", "float_native"),
    (Figure("fp16_wire_vs_int32", "Floats that travel in 16 bits are summed {:.2f} times as fast as those in SwitchML's int32.", ">= 1.9"),
     "float_fp16", "float_int32"),
)
TENSORS = (
    Figure("many_tensors_share", "The 161 gradients of ResNet-50 in blocking calls reach {:.1%} of one call's goodput.", ">= 0.90"),
    Figure("many_tensors_share_vector", "In a vector call the 161 gradients of ResNet-50 reach {:.1%} of one call's goodput.", ">= 0.97"),
)
# Where swagg stands, by the variant's name in records, as the pages say it. In each, the same processes called Open MPI's own functions, too.
PLACES = {"swagg": "as the only switch", "beside": "beside a bridge"}
OPENMPI_THERE = {place: f"openmpi_{place}" for place in PLACES}
# All sizes: swagg's place and Open MPI's, as the pages say it; 8 bytes; the size that compares worst.
COMPARED = {
    ("swagg", "openmpi"): (
        "as the only switch, by Open MPI's over a bridge",
        Figure("latency_8B_vs_openmpi", f"{FREE} an allreduce of 8 bytes is {FASTER} Open MPI's.", ">= 1.0"),
        Figure("worst_size_vs_openmpi", f"Of allreduces of 8 bytes to 16 MiB, the size that compares worst is {FASTER} Open MPI's.", ">= 0.95")),
    ("swagg", OPENMPI_THERE["swagg"]): (
        "as the only switch, by Open MPI's through it",
        Figure("latency_8B_same_switch_vs_openmpi", f"{FREE} an allreduce of 8 bytes is {FASTER} Open MPI's through the same switch.", ">= 1.0"),
        Figure("worst_size_same_switch_vs_openmpi",
               f"Of allreduces of 8 bytes to 16 MiB, the size that compares worst is {FASTER} Open MPI's through the same switch.", ">= 0.95")),
    ("beside", OPENMPI_THERE["beside"]): (
        "beside a bridge, by Open MPI's over it",
        Figure("latency_8B_beside_bridge_vs_openmpi",
               f"With swagg beside a bridge, links without a limit, an allreduce of 8 bytes is {FASTER} Open MPI's.", ">= 1.0"),
        Figure("worst_size_beside_bridge_vs_openmpi",
               f"With swagg beside a bridge, of allreduces of 8 bytes to 16 MiB, the size that compares worst is {FASTER} Open MPI's.", ">= 0.95")),
}
FIGURES = (*(row[0] for row in (*SPEEDS, *BOUNDS, *RATIOS)), *TENSORS, *(figure for _, *both in COMPARED.values() for figure in both))

# What an allreduce or reduce of 20 MiB takes if nothing is lost but framing, as shares of the tensor's time on the wire. Ours crosses
# each link once, 1460 bytes in a frame of 1512. TCP has 1448 of 1514, and for every second frame an acknowledgement of 66 the other way, where
# data goes, too. Open MPI's best are a ring, and a pipeline whose last segment passes hosts - 2 further ones after the first.
TENSOR, SEGMENT = 20 << 20, 32 << 10
OUR_FRAMING, TCP_FRAMING = 1512 / 1460, (2 * 1514 + 66) / (2 * 1448)
LIMITS = {"200mbit": (4, 200e6), "200mbit_8": (8, 200e6), "100mbit_8": (8, 100e6), "50mbit_16": (16, 50e6)}  # hosts, bits a second of their links


def bound_seconds(setting, tensor=TENSOR):
    """Ours, if nothing is lost but framing."""
    return tensor * 8 / LIMITS[setting][1] * OUR_FRAMING


def best_share(op, hosts):
    """Of Open MPI's best."""
    return TCP_FRAMING * (2 * (hosts - 1) / hosts if op == "allreduce" else 1 + (hosts - 2) * SEGMENT / TENSOR)


READING = """
Four hosts, for two figures eight and for two sixteen, one rank each, MTU 1500, segmentation offloads off; float unless another type is named. The baseline is Open MPI 4.1 (`pml
ob1`, `btl tcp`) over a Linux bridge between the same hosts, with the same limits: what it chooses itself, and the best of its
algorithms and segment sizes (`coll_tuned_..._algorithm`, `..._segmentsize`). The best is found in the first run: all on 4 MiB (with more hosts
those that took at most 1.8 times what the best took with four), and the two fastest of them again in full; where what it chooses itself is faster in a run, that is the best. Through the shim all of these calls go to the switch (`SWAGG_MIN_BYTES`). All variants take turns in every run, and
a ratio is taken within each run.

Sizes: through the shim as it is by default, which chooses between switch and library; the time is the slowest rank's, the median of
60 calls up to 64 KiB, of 10 up to 1 MiB and of 3 beyond. In each run Open MPI and both places of swagg take five turns up to 64 KiB and three beyond, each with new processes (at 200 Mbit/s
two beyond, from 4 MiB on one), and a ratio is taken within each turn. Calls are made for 400 ms before they are timed, at the first size and whenever it has
grown fourfold, until the kernel has placed ranks where they stay. swagg is once the hosts' only switch, which also carries what the shim leaves to Open MPI, and once
[beside](../topologies.md#beside-the-kernels-bridge) a bridge of the kernel's. `worst_size_...` is the least of the medians of all sizes, over
both kinds of links.

bfloat16, int32 and fp16 go through libswagg without MPI (`swagg-perf`, 20 MiB), and so do the 161 gradient tensors of ResNet-50, 102 MB
in all (`bench-tensors`): as single blocking calls, as one vector call, and as one call of the same bytes.

**Open MPI's through the same switch, and over the bridge beside which swagg is**: by the same processes, in turns of eight calls with those through the shim, past which they go to the library. So both find ranks on the same CPUs,
and the ratio is what choosing costs or gains. Open MPI's over a bridge without swagg are other processes'; for short calls two sets of processes differ by half the time and more, by where the kernel has put their ranks.
"""

KERNELS = """
`bench-core --operations`, everything in the L1 cache: folding one contribution into an accumulator. Floats of 16 bits are folded
into accumulators of 32 bits, except for min and max. A KiB holds twice as many elements of half the length.
"""


def taken(reports, setting, variant, op):
    return best.least(variant, lambda way: [rows[0]["median_us"] / 1e6 for rows in reports[setting, way, op]])


def element_rates(reports, way):
    return [rows[0]["count"] / rows[0]["mean_us"] for rows in reports["200mbit", "libswagg", way]]


def processes_of(reports, *beginning):
    """{what follows in the key: [report, one a run]}, of the keys with this beginning"""
    return {key[len(beginning):]: runs for key, runs in reports.items() if key[:len(beginning)] == beginning}


def sizes_of(reports):
    """[{setting, bytes, microseconds of each variant, turn by turn}]"""
    found = []
    for setting in SETTINGS:
        by_size = {}
        for variant in ("openmpi", *PLACES):
            for part in PARTS:
                turns = [runs for key, runs in processes_of(reports, setting, variant, part).items() if len(key) == 1]
                for row in (row for runs in turns for rows in runs for row in rows):
                    times = by_size.setdefault(row["bytes"], {})
                    times.setdefault(variant, []).append(row["median_us"])
                    if variant in PLACES:
                        times.setdefault(OPENMPI_THERE[variant], []).append(row["library_us"])
        found += [{"setting": setting, "bytes": size, **times} for size, times in sorted(by_size.items())]
    return found


def speeds(row, compared):
    place, peer = compared
    return records.ratios(row[peer], row[place])


def choices_of(reports):
    """Which sizes the shim sent to the switch, as {setting, place, part, choices: {text: in how many processes}}"""
    found = []
    for setting in SETTINGS:
        for place in PLACES:
            for part in PARTS:
                summaries = [run for key, runs in processes_of(reports, setting, place, part).items() if len(key) == 2 for run in runs]
                choices = collections.Counter(summary["jobs"][-1]["allreduce"] for summary in summaries)
                found.append({"setting": setting, "place": place, "part": part, "choices": dict(choices.most_common())})
    return found


def bounds_of(reports):
    """For each ratio over links with a limit against the best: how near both come to what framing leaves."""
    found = []
    for figure, setting, op, over, under in RATIOS:
        if setting in LIMITS and over == "best":
            hosts, rate = LIMITS[setting]
            ours, theirs = (Sample(taken(reports, setting, variant, op)).median for variant in (under, over))
            found.append({"figure": figure.name, "bound": best_share(op, hosts) / OUR_FRAMING,
                          "ours": bound_seconds(setting) / ours, "best": TENSOR * 8 / rate * best_share(op, hosts) / theirs})
    return found


def cpu_of(reports):
    """What the calls through the switch took."""
    return [{"setting": setting, "op": op, **{name: [rows[0][key] / 1e3 for rows in reports[setting, "swagg", op]]
                                              for name, key in (("ms", "median_us"), ("hosts_ms", "cpu_us"), ("switch_ms", "switch_cpu_us"))}}
            for setting in PLAYED for op in ("allreduce", "reduce") if (setting, "swagg", op) in reports]


def arithmetic_figures(arithmetic):
    return {**{f"{row['what'].replace(' ', '_')}_ns_a_float": row["ns"] for row in arithmetic["conversions"]},
            **{f"{row['op']}_{row['type']}_ns_a_kib": row["ns"] for row in arithmetic["operations"]},
            "memcpy_ns_a_kib": arithmetic["memcpy"], "loop_f32_ns_a_kib": arithmetic["loop"]}


def ways(directory):
    reports = records.reports(directory)
    sizes = sizes_of(reports)

    def rates(over, under):
        return records.ratios(*(element_rates(reports, way) for way in (over, under)))

    def ratio(setting, op, over, under):
        return records.ratios(*(taken(reports, setting, variant, op) for variant in (over, under)))

    def of_bound(setting, op):
        return [bound_seconds(setting, rows[0]["bytes"]) / rows[0]["median_us"] * 1e6 for rows in reports[setting, "swagg", op]]

    def first_size(compared):
        return speeds(next(row for row in sizes if (row["setting"], row["bytes"]) == ("cpu", 8)), compared)

    def worst_size(compared):
        return min(Sample(speeds(row, compared)).median for row in sizes)

    made = {figure.name: partial(rates, *what) for figure, *what in SPEEDS}
    made |= {figure.name: partial(ratio, *what) for figure, *what in RATIOS}
    made |= {figure.name: partial(of_bound, *what) for figure, *what in BOUNDS}
    made |= {figure.name: lambda name=figure.name: [run[name] for run in reports["200mbit", "libswagg", "tensors"]] for figure in TENSORS}
    for compared, (_, latency, slowest) in COMPARED.items():
        made |= {latency.name: partial(first_size, compared), slowest.name: partial(worst_size, compared)}
    return made


def collect(directory):
    reports = records.reports(directory)
    arithmetic = json.loads(records.text(directory, "operations.json"))
    return {"figures": found(ways(directory)) | arithmetic_figures(arithmetic), "sizes": sizes_of(reports),
            "choices": choices_of(reports), "bounds": bounds_of(reports), "cpu": cpu_of(reports), "tried": best.candidates_of(reports), "arithmetic": arithmetic}


# --- pages ----------------------------------------------------------------------------------------------------------

def worst(data, compared):
    row = min(data["sizes"], key=lambda row: Sample(speeds(row, compared)).median)
    return f"{size_name(row['bytes'])} over {SETTINGS[row['setting']]}"


def size_table(data, setting):
    rows = [(size_name(row["bytes"]), *(f"{Sample(row[variant]).median:.0f}" for variant in ("openmpi", *PLACES)),
             *(Sample(speeds(row, pair)).spread(2) for pair in COMPARED)) for row in data["sizes"] if row["setting"] == setting]
    return table(("tensor", "Open MPI (µs)", *(f"swagg {words} (µs)" for words in PLACES.values()),
                  *(f"its speed {words}" for words, *_ in COMPARED.values())), rows)


def choice_table(data):
    rows = [(f"{SETTINGS[row['setting']]}, swagg {PLACES[row['place']]}", PARTS[row["part"]],
             "; ".join(f"{choice} ({count})" for choice, count in row["choices"].items())) for row in data["choices"]]
    return table(("where", "tensors of these processes", "to the switch go (in how many processes)"), rows, "lll")


def bound_table(data):
    rows = [(f"`{row['figure']}`", Sample(data["figures"][row["figure"]]).spread(2), f"{row['bound']:.2f}", f"{row['ours']:.1%}",
             f"{row['best']:.1%}") for row in data["bounds"]]
    return table(("figure", "measured", "if neither lost anything", "swagg, of what framing leaves", "Open MPI's best, of it"), rows)


def cpu_table(data):
    rows = [(f"{row['op']}, {PLAYED[row['setting']]}", *(f"{Sample(row[key]).median:.0f}" for key in ("ms", "hosts_ms", "switch_ms"))) for row in data["cpu"]]
    return table(("through the switch", "time (ms)", "CPU of all hosts (ms)", "CPU of swagg (ms)"), rows)


def numbers_page(data):
    slowest = "; ".join(f"with swagg {words}: {worst(data, compared)}" for compared, (words, *_) in COMPARED.items())
    ratio = Sample(data["figures"]["allreduce_200mbit_vs_best"]).median
    answer = (f"Over links of 200 Mbit/s an allreduce is {ratio:.2f} times as fast as the best that Open MPI has. SwitchML's int32 cost "
              f"{Sample(data['figures']['scaling_overhead']).median - 1:.1%} of the time that floats take. The sizes that compare worst: "
              f"{slowest}.")
    tables = [part for setting, words in SETTINGS.items() for part in (f"Allreduce by size, {words}:", size_table(data, setting))]
    return "\n\n".join([answer, "![Speed of an allreduce by its size](numbers.svg)", figure_table(FIGURES, data),
                        "Links with a limit, 20 MiB, beside what framing leaves:", bound_table(data), "What a call takes of the CPUs:", cpu_table(data), *tables,
                        "What the shim measured and chose:", choice_table(data), "What was tried to find Open MPI's best:", best.tried_table(data["tried"], SEARCHED), "## How it is measured", READING.strip()])


def operation_table(arithmetic):
    ns = {(row["op"], row["type"]): row["ns"] for row in arithmetic["operations"]}
    ops, types = (list(dict.fromkeys(row[key] for row in arithmetic["operations"])) for key in ("op", "type"))
    return table(("ns a KiB", *types), [(op, *(f"{ns[op, kind]:.1f}" if (op, kind) in ns else "" for kind in types)) for op in ops])


def kernels_page(data):
    arithmetic = data["arithmetic"]
    rows = [(row["what"], f"{row['ns']:.3f}") for row in arithmetic["conversions"]]
    return "\n\n".join([
        f"A contribution of 1 KiB ({arithmetic['kernels']}); beside that, memcpy takes {arithmetic['memcpy']:.1f} ns, a bare loop that adds "
        f"float {arithmetic['loop']:.1f} ns.", operation_table(arithmetic),
        "A float on its way to SwitchML's numbers and back:", table(("what", "ns a float"), rows),
        "## How it is measured", KERNELS.strip()])


def pages(data):
    return {"numbers": numbers_page(data), "kernels": kernels_page(data)}


def plots(data):
    ticks = [(size, size_name(size)) for size in (8, 512, 8 << 10, 256 << 10, 16 << 20)]
    panels = []
    for compared, (place, *_) in COMPARED.items():
        series = [(words, kind, [(row["bytes"], Sample(speeds(row, compared))) for row in data["sizes"] if row["setting"] == setting])
                  for (setting, words), kind in zip(SETTINGS.items(), ("ours", "second"))]
        panels.append(Panel(f"Allreduce, four ranks, swagg {place}", "speed by Open MPI's: more is better", series=series, x_ticks=ticks,
                            x_unit="tensor", log=True, marks=[(1, "Open MPI")]))
    return {"numbers": lines("Speed of an allreduce by its size", panels)}
