"""Benchmarks of several parts, which share a page (script/lib/parts.sh).

A part, parts/PART.py, has FIGURES; READING, how it is measured; collect(rows) returns its figures, by name, and further data;
section(data) returns Markdown. One may have plots(data), which returns {name: SVG}. rows: {(what, ...): [report, one a run]}, of its own records. A part that was not measured is left
out."""
import functools

import records
from figures import figure_table


def figures_of(parts):
    return tuple(figure for part in parts.values() for figure in part.FIGURES)


def measured_parts(parts, directory, before):
    """[(name, part, its rows)] of those that were. before: how many words a record's name has between its run and its part."""
    rows = records.reports(directory)
    own = {name: {key[before + 1:]: reports for key, reports in rows.items() if key[before] == name} for name in parts}
    return [(name, part, own[name]) for name, part in parts.items() if own[name]]


def collect(parts, directory, before=0):
    found = {"figures": {}}
    for name, part, rows in measured_parts(parts, directory, before):
        figures, found[name] = part.collect(rows)
        found["figures"] |= figures
    return found


def ways(parts, directory, before=0):
    """A part that was not measured to its end has none of its figures."""
    made = {}
    for _, part, rows in measured_parts(parts, directory, before):
        collected = functools.cache(lambda part=part, rows=rows: part.collect(rows)[0])
        made |= {figure.name: lambda collected=collected, name=figure.name: collected()[name] for figure in part.FIGURES}
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


def bench(name, parts, before=0):
    """What a benchmark of nothing but parts has (report.py): FIGURES, ways, collect, pages, plots."""
    return (figures_of(parts), functools.partial(ways, parts, before=before),
            functools.partial(collect, parts, before=before), lambda data: {name: page(parts, data)},
            functools.partial(plots, parts))
