"""What adding a packet costs in the core, and what checksums cost: what core.sh measured."""
import glob
import json
import os
import re
import sys

import records
from figures import Figure, Sample, figure_table, table
from plot import Panel, lines

MEASURES = ("lib/core/kernels", "lib/core/switchml", "lib/core/transfer", "lib/core/wire", "bench/core.c", "bench/bound.c", "bench/checksums.c", "bench/cold.c")  # rooms.py

READING = """
`bench-core` measures nanoseconds a packet in the core: `sml_pool_locate` and `sml_pool_apply`, without devices. Eight workers;
every chunk is completed. Beside it, memcpy of the same bytes and the bare loop that loads, adds and stores. Warm: everything is in the
caches. Large: 512 slots and 4096 packet buffers, more than the caches of a core hold. Mode "reversed": the pool is ordered, and the last
rank's packets come first. "Kept": sums are made in the buffers that start them, not in the pool's memory. "CRC32C": the job's own
checksum, of every packet and of the result.
"""

ALONE = """
A whole packet beside a bare loop compares unlike things: finding the slot and its bookkeeping take the same for any length, and the
loop has none of it. So a packet is held against the loop as a whole (`apply_vs_loop_1024`), and beside it stands each kernel by itself,
called as the pool calls it, against the same loop (`kernel_*`): the loop's time by the kernel's. What is left is what a packet takes
beside its addition. int32 travels big endian; the kernel swaps bytes as it adds, and is held against a bare loop that swaps, too, and
beside that against the plain one. Both loops are C, as the compiler makes vectors of it, so a kernel may be faster than they are. Warm:
two chunks, in the caches of a core. Cold: 1024 chunks, each with a sum of its own, put out of every cache before.
"""

COUNTING = """
Instructions a packet, counted by callgrind (`valgrind --tool=callgrind`), warm, in `sml_pool_locate` and `sml_pool_apply`,
what they call included; in brackets by those of the bare loop with the loop over the packets. valgrind knows no AVX-512, so the
instruction set is AVX2. Long copies are one instruction, `rep movsb`, which counts once a byte. The counts repeat exactly from run to
run.
"""

COUNTING_CHECKSUMS = """
Instructions a checksum takes, counted by callgrind; beside them, memcpy of the same bytes (`rep movsb`, from some length on, counts
once a byte).
"""

FIGURES = (
    Figure("apply_vs_loop_1024", "In the caches, adding a packet of 1 KiB of int32 takes {:.2f} times as long as a bare loop that loads, adds and stores.", "<= 1.5"),
    Figure("apply_vs_loop_1024_large", "With more slots than the caches of a core hold, it takes {:.2f} times as long as the bare loop."),
    Figure("kernel_f32_vs_bound", "Without its packet, in the caches, a bare loop takes {:.2f} of the time that the kernel for float32 takes, from 1 KiB on at the worst length.", ">= 0.9", first_screen=False),
    Figure("kernel_f32_vs_bound_cold", "From memory, {:.2f}.", ">= 0.9", first_screen=False),
    Figure("kernel_i32_vs_bound", "Without its packet, in the caches, a bare loop that swaps bytes takes {:.2f} of the time that the kernel for int32 takes, from 1 KiB on at the worst length.", ">= 0.9"),
    Figure("kernel_i32_vs_bound_cold", "Without its packet, from memory, a bare loop that swaps bytes takes {:.2f} of the time that the kernel for int32 takes, from 1 KiB on at the worst length.", ">= 0.9"),
    Figure("kernel_i32_vs_plain", "In the caches, a bare loop that swaps nothing takes {:.2f} of it.", first_screen=False),
    Figure("kernel_i32_vs_plain_cold", "From memory, {:.2f}.", first_screen=False),
    Figure("packet_beside_kernel_ns", "In the caches, a packet of 1 KiB of int32 takes {:.0f} ns beside what the kernel takes.", first_screen=False),
    Figure("apply_vs_memcpy_1024", "In the caches it takes {:.2f} times as long as memcpy, which adds nothing.", first_screen=False),
    Figure("apply_vs_memcpy_1024_large", "With more slots than the caches of a core hold, {:.2f} times as long as memcpy.", first_screen=False),
)

ROW = re.compile(r"^(\w+) +(\S.*?) +(\w+) +(\d+) +(\d+) \| +([\d.]+) +([\d.]+) +([\d.]+) \| +([\d.]+) +([\d.]+)$", re.M)
CHECKSUM = re.compile(r"^(\w+) +([\w.]+) +(\d+) \| +([\d.]+) +([\d.]+) +([\d.]+)$", re.M)
SUM_ALONE = re.compile(r"^(\w+) +(warm|cold) +(\w+) +(\d+) \| +([\d.]+) +([\d.]+) +([\d.]+) \| +([\d.]+) +([\d.]+)$", re.M)
PASSES = re.compile(r"^(\w+) +(\d+) \| +([\d.]+) +([\d.]+) +([-\d.]+)$", re.M)


def section(text, title):
    """What bench-core printed under a title."""
    return re.split(rf"^{title}.*$", text, maxsplit=1, flags=re.M)[1].split("\n\n")[0]


def rows_of(pattern, names, text):
    return [dict(zip(names, (json.loads(cell) if re.fullmatch(r"-?\d+(\.\d+)?", cell) else cell for cell in row)))
            for row in pattern.findall(text)]


def parsed(text):
    packet = ("type", "mode", "kernels", "k", "bytes", "apply_ns", "memcpy_ns", "loop_ns", "by_memcpy", "by_loop")
    return {
        **{name: rows_of(ROW, packet, section(text, title)) for name, title in
           (("warm", "Warm"), ("large", "Large"), ("kernels", "Kernels"))},
        "alone": rows_of(SUM_ALONE, ("type", "memory", "kernels", "bytes", "kernel_ns", "loop_ns", "swapped_ns", "by_loop", "by_swapped"),
                         section(text, "Sums alone")),
        "checksums": rows_of(CHECKSUM, ("of", "kernels", "bytes", "ns", "bytes_ns", "by_memcpy"), section(text, "Checksums")),
        "passes": rows_of(PASSES, ("kernels", "bytes", "two_ns", "one_ns", "saved_ns"), section(text, "A float32 contribution")),
    }


def instructions(directory, function):
    """{(type, mode, kernels, k): a packet's}, from the dumps that callgrind made when bench-core said a row's name"""
    counts = {}
    for path in glob.glob(os.path.join(directory, function + ".*")):
        with open(path) as f:
            text = f.read()
        row = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
        if row:
            *key, k, packets = row.group(1).split(",")
            counts[*key, int(k)] = int(re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE).group(1)) / int(packets)
    if not counts:
        sys.exit(f"{directory}/{function}.*: callgrind left no counts")
    return counts


def ways(directory):
    """bench-core writes them when it has measured all, and callgrind counts after that."""
    path = os.path.join(directory, "core.json")
    return {name: lambda value=value: value for name, value in json.loads(records.text(directory, "core.json")).items()} if os.path.exists(path) else {}


def collect(directory):
    functions = ("sml_pool_locate", "sml_pool_apply", "time_memcpy", "time_loop")
    locate, apply, memcpy, loop = (instructions(directory, function) for function in functions)
    counted = [{"type": key[0], "mode": key[1], "kernels": key[2], "k": key[3], "locate": locate[key], "apply": apply[key],
                "memcpy": memcpy[key], "loop": loop[key]} for key in sorted(apply, key=lambda key: (key[1], key[0], key[3]))]
    checksums = instructions(directory, "time_checksum")
    return {**parsed(records.text(directory, "core.txt")), "instructions": counted,
            "checksum_instructions": [{"of": of, "kernels": kernels, "bytes": length, "instructions": checksums[of, kernels, length]}
                                      for of, kernels, length in sorted(checksums)]}


# --- tables ---------------------------------------------------------------------------------------------------------

HEAD = ("type, mode", "128 bytes", "256", "1024", "1456 or 1460", "8960")


def by_mode(rows, cell):
    """A line for each type and mode, a column for each length."""
    found = {}
    for row in sorted(rows, key=lambda row: row["k"]):
        found.setdefault((row["type"], row["mode"]), []).append(cell(row))
    names = dict.fromkeys((row["type"], row["mode"]) for row in rows)
    return table(HEAD, [(f"{kind} {mode}", *found[kind, mode]) for kind, mode in names])


def time_cell(row):
    return f"{row['apply_ns']:.1f} ({row['by_loop']:.2f})"


def count_cell(row):
    both = row["locate"] + row["apply"]
    return f"{both:.0f} ({both / row['loop']:.2f})"


def kernel_table(data):
    rows = [(f"{row['type']} {row['kernels']}", *(f"{row[name]:.1f}" for name in ("apply_ns", "memcpy_ns", "loop_ns")))
            for row in data["kernels"]]
    return table(("1024 bytes, warm, on arrival", "apply (ns)", "memcpy (ns)", "bare loop (ns)"), rows)


def alone_table(data):
    rows = [(f"{row['type']}, {row['memory']}", row["bytes"], *(f"{row[name]:.1f}" for name in ("kernel_ns", "loop_ns", "swapped_ns")),
             *(f"{row[name]:.2f}" for name in ("by_loop", "by_swapped"))) if row["type"] == "i32" else
            (f"{row['type']}, {row['memory']}", row["bytes"], f"{row['kernel_ns']:.1f}", f"{row['loop_ns']:.1f}", "", f"{row['by_loop']:.2f}", "")
            for row in data["alone"]]
    return table(("type, memory", "bytes", "kernel (ns)", "bare loop (ns)", "loop that swaps (ns)", "loop by kernel", "loop that swaps by kernel"), rows)


def beside_addition(data):
    """In instructions, of the shortest packet, where the addition is least."""
    row = min((row for row in data["instructions"] if (row["type"], row["mode"]) == ("f32", "on arrival")), key=lambda row: row["k"])
    return (f"Of a packet of {4 * row['k']} bytes of float32, on arrival, {row['locate'] + row['apply'] - row['loop']:.0f} instructions are more than the bare loop's: "
            "finding the slot and its bookkeeping.")


def by_length(rows, key, digits):
    found = {}
    for row in rows:
        found.setdefault((row["of"], row["kernels"]), []).append(f"{row[key]:.{digits}f}")
    lengths = sorted({row["bytes"] for row in rows})
    return table(("of", "instruction set", *(f"{length} bytes" for length in lengths)),
                 [(*way, *cells) for way, cells in sorted(found.items())], "ll" + "r" * len(lengths))


def pass_table(data):
    rows = [(row["kernels"], row["bytes"], row["two_ns"], row["one_ns"], row["saved_ns"]) for row in data["passes"]]
    return table(("instruction set", "bytes", "two passes (ns)", "one pass (ns)", "saved (ns)"), rows)


# --- pages ----------------------------------------------------------------------------------------------------------

def find(rows, **wanted):
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


def addition_page(data):
    warm, large = (find(data[name], type="f32", mode="on arrival", k=365) for name in ("warm", "large"))
    answer = (f"A packet of 365 floats costs {warm['apply_ns']:.0f} ns in the core when all is in the caches, {large['apply_ns']:.0f} ns "
              f"when it is not: {warm['by_loop']:.2f} and {large['by_loop']:.2f} times a bare loop "
              f"that loads, adds and stores.")
    best = data["warm"][0]["kernels"]
    return "\n\n".join([
        answer, "![Time a packet by its length](core.svg)", figure_table(FIGURES, data),
        f"## Time a packet\n\nNanoseconds ({best}); in brackets by the bare loop's. Warm:", by_mode(data["warm"], time_cell), "Large:",
        by_mode(data["large"], time_cell), "By instruction set:", kernel_table(data), "## Kernels by themselves", ALONE.strip(), alone_table(data), "## Instructions a packet", COUNTING.strip(),
        by_mode(data["instructions"], count_cell), beside_addition(data), "## How it is measured", READING.strip()])


def checksum_page(data):
    def times(of, kernels):
        row = find(data["checksums"], of=of, kernels=kernels, bytes=1478)
        return f"{row['ns']:.0f} ns ({row['by_memcpy']:.1f} times memcpy's)"

    found = {(row["of"], row["kernels"]) for row in data["checksums"]}
    said = [f"{times('UDP', name)} with {words}" for name, words in (("scalar", "plain C"), ("avx2", "AVX2"), ("avx512", "AVX-512"))
            if ("UDP", name) in found]
    return "\n\n".join([
        f"UDP's checksum of 1478 bytes takes {', '.join(said)}; a CRC32C {times('CRC32C', 'sse4.2')} with the CPU's instruction for it.",
        "![Time of checksums by length](checksums.svg)", "Nanoseconds, warm:", by_length(data["checksums"], "ns", 1),
        COUNTING_CHECKSUMS.strip(), by_length(data["checksum_instructions"], "instructions", 0),
        "A float32 contribution, warm: UDP's checksum and then the addition, or both in one pass:", pass_table(data)])


def pages(data):
    return {"core": addition_page(data), "checksums": checksum_page(data)}


def addition_panel(data, name, heading):
    rows = [row for row in data[name] if (row["type"], row["mode"]) == ("f32", "on arrival")]
    series = [(label, kind, [(row["bytes"], Sample(row[key])) for row in rows]) for label, kind, key in
              (("swagg's core", "ours", "apply_ns"), ("bare loop", "second", "loop_ns"), ("memcpy", "peer", "memcpy_ns"))]
    ticks = [(row["bytes"], str(row["bytes"])) for row in rows if row["bytes"] != 1024]
    return Panel(heading, "ns a packet, logarithmic", series=series, x_ticks=ticks, x_unit="bytes, float32, on arrival", log=True)


def checksum_panel(data, heading, kinds):
    series = [(label, kind, [(row["bytes"], Sample(row["ns"])) for row in data["checksums"] if (row["of"], row["kernels"]) == way])
              for way, label, kind in kinds]
    series = [one for one in series if one[2]]
    ticks = [(row["bytes"], str(row["bytes"])) for row in data["checksums"] if row["of"] == "memcpy" and row["bytes"] != 1042]
    return Panel(heading, "ns, logarithmic", series=series, x_ticks=ticks, x_unit="bytes", log=True)


def plots(data):
    memcpy = (("memcpy", "libc"), "memcpy", "peer")
    return {
        "core": lines("Time a packet by its length", [addition_panel(data, "warm", "All in the caches"),
                                                      addition_panel(data, "large", "More than the caches hold")]),
        "checksums": lines("Time of checksums by length", [
            checksum_panel(data, "UDP's checksum", [(("UDP", "scalar"), "plain C", "second"), (("UDP", "avx2"), "AVX2", "third"),
                                                           (("UDP", "avx512"), "AVX-512", "ours"), memcpy]),
            checksum_panel(data, "CRC32C", [(("CRC32C", "scalar"), "plain C", "second"),
                                                      (("CRC32C", "sse4.2"), "SSE 4.2", "ours"), memcpy])])}
