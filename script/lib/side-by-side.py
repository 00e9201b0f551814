#!/usr/bin/env python3
"""Prints measurements of mpi-perf side by side: side-by-side.py SWAGG.json OPENMPI.json [SWAGG.json OPENMPI.json]...

The columns are those of nccl-tests, once for each; the last one says how many times faster swagg is."""
import json
import sys

HEAD = ("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw",
        "#wrong", "swagg")
UNITS = ("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "", "is faster")
LINE = "{:>10} {:>10} {:>6} {:>6} {:>5}   {:>10} {:>7} {:>7} {:>6}   {:>10} {:>7} {:>7} {:>6}   {:>9}"


def figures(row):
    return f"{row['median_us']:.1f}", f"{row['algbw_GBps']:.4f}", f"{row['busbw_GBps']:.4f}", row["wrong"]


def table(swagg_file, native_file):
    with open(swagg_file) as s, open(native_file) as n:
        pairs = list(zip(json.load(s), json.load(n)))
    if any((a["op"], a["type"], a["bytes"]) != (b["op"], b["type"], b["bytes"]) for a, b in pairs):
        sys.exit(f"side-by-side: {swagg_file} and {native_file} measured different things")
    first = pairs[0][0]
    print(f"\n{first['op']}, {first['ranks']} ranks")
    print(f"{'':>41}   {' swagg ':-^33}   {' Open MPI ':-^33}")
    print(LINE.format(*HEAD))
    print(LINE.format(*UNITS))
    for swagg, native in pairs:
        root = 0 if swagg["op"] == "reduce" else -1
        print(LINE.format(swagg["bytes"], swagg["count"], swagg["type"], "sum", root, *figures(swagg),
                          *figures(native), f"{native['median_us'] / swagg['median_us']:.2f} x"))
    return sum(row["wrong"] for pair in pairs for row in pair)


def main():
    files = sys.argv[1:]
    if not files or len(files) % 2:
        sys.exit(__doc__)
    wrong = sum(table(*pair) for pair in zip(files[::2], files[1::2]))
    if wrong:
        sys.exit(f"side-by-side: {wrong} wrong sums")


if __name__ == "__main__":
    main()
