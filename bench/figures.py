"""Figures: what was measured in several runs, the aim it is held against, and Markdown tables of it."""
import re
import statistics
from dataclasses import dataclass


class Sample:
    """One quantity. Made of the values of all runs, or of what was kept of them: {"median", "low", "high", "p90"} or one number."""

    def __init__(self, stored):
        self.stored = stored
        kept = stored if isinstance(stored, dict) else {"median": stored}
        if isinstance(stored, (list, tuple)):
            ordered = sorted(stored)
            kept = {"median": statistics.median(ordered), "low": ordered[0], "high": ordered[-1],
                    "p90": ordered[len(ordered) * 9 // 10]}
        self.median, self.low, self.high, self.p90 = (kept.get(key) for key in ("median", "low", "high", "p90"))

    def spread(self, digits=3):
        """Median (lowest .. highest)"""
        if self.low is None:
            return f"{self.median:.{digits}f}"
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} .. {self.high:.{digits}f})"


@dataclass(frozen=True)
class Figure:
    """A figure's name, what it says in a sentence with its median ("{:.2f} times as fast"), its aim (">= 0.95", or none), and whether
    the first screen has it."""
    name: str
    says: str
    aim: str = ""
    first_screen: bool = True

    def sample(self, data):
        return Sample(data["figures"][self.name])

    def verdict(self, sample):
        """The median decides; whether each run agrees is said, too."""
        if not self.aim:
            return "no aim"
        values = [value for value in (sample.low, sample.high) if value is not None]
        if not meets(sample.median, self.aim):
            return "✗ **missed**"
        return "✓ met" if all(meets(value, self.aim) for value in values) else "✓ met, not in every run"


def meets(value, aim):
    sign, limit = re.fullmatch(r"([<>]=?) ([\d.]+)", aim).groups()
    limit = float(limit)
    return {"<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit}[sign]


def flat(figures):
    """{name: stored sample} as metrics: medians under the names, extremes beside them."""
    metrics = {}
    for name, stored in figures.items():
        sample = Sample(stored)
        metrics[name] = round(sample.median, 4)
        if sample.low is not None:
            metrics[name + "_min"], metrics[name + "_max"] = round(sample.low, 4), round(sample.high, 4)
    return metrics


# What asking for a figure meets whose records are not there.
GAPS = (LookupError, StopIteration, FileNotFoundError, ValueError)


def found(ways, gaps=()):
    """{name: value} of {name: function that gives it}. gaps: what some may fail with, which are then left out"""
    values = {}
    for name, way in ways.items():
        try:
            values[name] = way()
        except gaps:
            pass
    return values


def present(figures, data):
    """Those that were measured; a quick look leaves some out."""
    return [figure for figure in figures if figure.name in data["figures"]]


def figure_table(figures, data):
    rows = []
    for figure in present(figures, data):
        sample = figure.sample(data)
        rows.append((f"`{figure.name}`", figure.says.format(sample.median), sample.spread(), figure.aim or "-", figure.verdict(sample)))
    return table(("figure", "what it says", "median (lowest .. highest run)", "aim", "verdict"), rows, "llrll")


def table(head, rows, align=None):
    """Markdown. `align`: a letter a column, l or r; without it the first column is text, the others are numbers."""
    align = align or "l" + "r" * (len(head) - 1)
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join({"l": "---", "r": "---:"}[way] for way in align) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
