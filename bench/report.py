"""What the benchmarks' reports share: the machine, tables, and a section of docs/results.md for each."""
import glob
import json
import os
import platform
import re
import statistics
import sys


def machine():
    """The machine in a line: whoever reads a figure must know where it was measured."""
    with open("/proc/cpuinfo") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown CPU")
    with open("/proc/meminfo") as f:
        gib = round(int(f.readline().split()[1]) / 2**20)
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {gib} GiB, Linux {platform.release()}"


def load_mpi_perf(directory):
    """{(setting, variant, op): [row of mpi-perf, one a run]} of the files RUN,SETTING,VARIANT,OP.json"""
    rows = {}
    for path in sorted(glob.glob(os.path.join(directory, "*,*.json"))):
        key = tuple(os.path.basename(path)[:-len(".json")].split(",")[1:])
        with open(path) as f:
            row, = json.load(f)
        if row["wrong"]:
            sys.exit(f"{path}: {row['wrong']} wrong sums")
        rows.setdefault(key, []).append(row)
    return rows


def times(rows, *key):
    return [row["median_us"] / 1e6 for row in rows[key]]


def ratios(rows, over, under):
    """Time of one variant over that of another, run by run."""
    return [a / b for a, b in zip(times(rows, *over), times(rows, *under))]


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} .. {max(values):.3f})"


def flat(measured):
    """The JSON form of {name: ([value, one a run], aim)}: medians under the names, extremes beside them."""
    metrics = {}
    for name, (values, _) in measured.items():
        metrics[name] = statistics.median(values)
        metrics[name + "_min"], metrics[name + "_max"] = min(values), max(values)
    return metrics


def figure_table(measured):
    return table(("figure", "median", "lowest .. highest run", "aim"),
                 [(f"`{name}`", f"{statistics.median(values):.3f}", f"{min(values):.3f} .. {max(values):.3f}", aim)
                  for name, (values, aim) in measured.items()])


def table(head, rows):
    """Markdown; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write_section(path, name, text):
    """Puts the text between the section's markers in a Markdown file; nothing else in the file changes."""
    with open(path) as f:
        page = f.read()
    begin, end = f"<!-- bench {name} -->", f"<!-- end of bench {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{path}: there is no section between '{begin}' and '{end}'")
    with open(path, "w") as f:
        f.write(pattern.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", page))


def write_json(path, metrics):
    with open(path, "w") as f:
        json.dump({name: round(value, 4) for name, value in metrics.items()}, f, indent=2)
        f.write("\n")
