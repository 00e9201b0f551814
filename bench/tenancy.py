"""Many jobs and workers on one switch: what tenancy.sh measured, part by part.

A part, parts/PART.py, has FIGURES; READING, how it is measured; collect(rows) returns its figures, by name, and further data;
section(data) returns Markdown. rows: {(what, ...): [report, one a run]}, of its own records."""
import records
from figures import figure_table
from parts import one_lcore, sharing

PARTS = {"one_lcore": one_lcore, "sharing": sharing}
FIGURES = tuple(figure for part in PARTS.values() for figure in part.FIGURES)


def collect(directory):
    rows = records.reports(directory)
    found = {"figures": {}}
    for name, part in PARTS.items():
        own = {key[2:]: reports for key, reports in rows.items() if key[1] == name}
        if own:
            figures, found[name] = part.collect(own)
            found["figures"] |= figures
    return {"measured": records.measured(max(len(reports) for reports in rows.values())), **found}


def pages(data):
    sections = [part.section(data[name]) for name, part in PARTS.items() if name in data]
    reading = [part.READING.strip() for name, part in PARTS.items() if name in data]
    return {"tenancy": "\n\n".join([figure_table(FIGURES, data), *sections, "## How it is measured", *reading])}


def plots(data):
    return {}
