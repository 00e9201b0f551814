"""Reads what a benchmark has left in its directory, and says on what it was measured."""
import datetime
import glob
import json
import os
import platform
import sys

import rooms


def machine():
    """The machine in a line: whoever reads a figure must know where it was measured."""
    with open("/proc/cpuinfo") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown CPU")
    with open("/proc/meminfo") as f:
        gib = round(int(f.readline().split()[1]) / 2**20)
    return f"{model}, {len(os.sched_getaffinity(0))} cores, {gib} GiB, Linux {platform.release()}"


def measured(directory, paths):
    """paths: what is measured (rooms.py)"""
    runs = max((int(os.path.basename(path).split(",")[0]) for path in glob.glob(os.path.join(directory, "*,*.json"))), default=None)
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"machine": machine(), "runs": runs, "date": today, "commit": rooms.measured_commit(paths)}


def wrong_sums(content):
    """How many the rows of programs' tables tell of, wherever a record has these."""
    if isinstance(content, dict):
        return sum(map(wrong_sums, content.values()))
    if isinstance(content, list):
        return sum(row.get("wrong", 0) if isinstance(row, dict) else wrong_sums(row) for row in content)
    return 0


def by_name(directory):
    """[(parts of the name between commas without the run, content)] of the files RUN,PART,...json, in the order of the runs. A wrong sum ends
    everything."""
    found = []
    for path in sorted(glob.glob(os.path.join(directory, "*,*.json"))):
        run, *parts = os.path.basename(path)[:-len(".json")].split(",")
        with open(path) as f:
            try:
                found.append((int(run), parts, json.load(f)))
            except ValueError as e:
                sys.exit(f"{path} is no whole record, or of no run: {e}. Without it script/bench measures it again")
        if wrong_sums(found[-1][-1]):
            sys.exit(f"{path}: {wrong_sums(found[-1][-1])} wrong sums")
    return [(parts, content) for _, parts, content in sorted(found, key=lambda one: one[0])]


def drop_broken(directory):
    """What was being written when the benchmark was ended."""
    for path in glob.glob(os.path.join(directory, "*.json")):
        with open(path) as f:
            text = f.read()
        try:
            json.loads(text)
        except ValueError:
            os.unlink(path)


def mpi_perf(directory):
    """{(part, ...): [row of mpi-perf, one a run]}"""
    rows = {}
    for parts, content in by_name(directory):
        for row in content:
            rows.setdefault((*parts, row["bytes"]), []).append(row)
    return rows


def reports(directory):
    """{(part, ...): [report, one a run]}"""
    rows = {}
    for parts, content in by_name(directory):
        rows.setdefault(tuple(parts), []).append(content)
    return rows


def text(directory, name):
    with open(os.path.join(directory, name)) as f:
        return f.read()


def ratios(over, under):
    """Run by run."""
    return [a / b for a, b in zip(over, under)]
