"""Benchmarks of several parts, which share a page (script/lib/parts.sh).

A part, parts/PART.py, has FIGURES; READING, how it is measured; collect(rows) returns its figures, by name, and further data;
section(data) returns Markdown. One may have plots(data), which returns {name: SVG}. rows: {(what, ...): [report, one a run]}, of its own records. A part that was not measured is left
out."""
import functools

import records
from figures import figure_table


def figures_of(parts):
    return tuple(figure for part in parts.values() for figure in part.FIGURES)


def collect(parts, directory, paths, before=0):
    """paths: what is measured. before: how many words a record's name has between its run and its part."""
    rows = records.reports(directory)
    found = {"figures": {}}
    for name, part in parts.items():
        own = {key[before + 1:]: reports for key, reports in rows.items() if key[before] == name}
        if own:
            figures, found[name] = part.collect(own)
            found["figures"] |= figures
    return {"measured": records.measured(max(len(reports) for reports in rows.values()), paths), **found}


def ways(parts, directory, before=0):
    """A part that was not measured to its end has none of its figures."""
    rows = records.reports(directory)
    made = {}
    for name, part in parts.items():
        own = {key[before + 1:]: reports for key, reports in rows.items() if key[before] == name}
        collected = functools.cache(lambda part=part, own=own: part.collect(own)[0])
        made |= {figure.name: lambda collected=collected, name=figure.name: collected()[name] for figure in part.FIGURES if own}
    return made


def page(parts, data):
    sections = [part.section(data[name]) for name, part in parts.items() if name in data]
    reading = [part.READING.strip() for name, part in parts.items() if name in data]
    return "\n\n".join([figure_table(figures_of(parts), data), *sections, "## How it is measured", *reading])


def plots(parts, data):
    made = {}
    for name, part in parts.items():
        if name in data and hasattr(part, "plots"):
            made |= part.plots(data[name])
    return made


def bench(name, parts, paths, before=0):
    """What a benchmark of nothing but parts has (report.py): FIGURES, ways, collect, pages, plots."""
    return (figures_of(parts), functools.partial(ways, parts, before=before),
            lambda directory: collect(parts, directory, paths, before), lambda data: {name: page(parts, data)},
            functools.partial(plots, parts))
