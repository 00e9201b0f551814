#!/usr/bin/env python3
"""Makes a section of what core.sh measured: core.py RECORDS RESULTS.md [FIGURES.json]"""
import glob
import os
import re
import shutil
import sys

import report

COUNTING = """
Instructions a packet, counted by callgrind (`valgrind --tool=callgrind`), warm, in `sml_pool_locate` and
`sml_pool_apply`, what they call included; beside them, memcpy and the bare loop with the loop over the packets. valgrind knows no AVX-512, so the
kernels, memcpy and the loop are those for AVX2. Long copies are one instruction, `rep movsb`, which counts once a byte. The
counts repeat exactly from run to run.
"""

COUNTING_CHECKSUMS = """
Instructions a checksum takes, counted in the same way; beside them, memcpy of the same bytes (`rep movsb`, from some length
on, counts once a byte).
"""


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


def instruction_table(directory):
    functions = ("sml_pool_locate", "sml_pool_apply", "time_memcpy", "time_loop")
    locate, apply, memcpy, loop = (instructions(directory, function) for function in functions)
    rows = [(f"{key[0]} {key[1]}", key[2], key[3], f"{locate[key]:.1f}", f"{apply[key]:.1f}", f"{memcpy[key]:.1f}",
             f"{loop[key]:.1f}", f"{(locate[key] + apply[key]) / loop[key]:.2f}")
            for key in sorted(apply, key=lambda key: (key[1], key[0], key[3]))]
    return report.table(("type, mode", "kernels", "k", "locate", "apply", "memcpy", "loop", "both / loop"), rows)


def checksum_table(directory):
    counts = instructions(directory, "time_checksum")
    lengths = sorted({key[-1] for key in counts})
    rows = [(*way, *(f"{counts[*way, bytes]:.0f}" for bytes in lengths)) for way in dict.fromkeys(key[:-1] for key in sorted(counts))]
    return report.table(("of", "kernels", *(f"{bytes} bytes" for bytes in lengths)), rows)


def main():
    directory, results, *figures_file = sys.argv[1:]
    with open(os.path.join(directory, "core.txt")) as f:
        text = f.read()
    report.write_section(results, "core", "\n\n".join([
        f"Measured by `script/bench core` on {report.machine()}.", f"```\n{text.strip()}\n```", COUNTING.strip(),
        instruction_table(directory), COUNTING_CHECKSUMS.strip(), checksum_table(directory)]))
    if figures_file:
        shutil.copy(os.path.join(directory, "core.json"), figures_file[0])


main()
