"""The thread organisations of the paper that swagg began with, as tables and plots name them (organisations.sh), and what they have in
common: the same work in the switch and in the host."""
import records
from figures import Sample, table
from plot import Panel

NAMES = {"one": "one thread for everything", "p_2x": "P + 2X: a thread a port, two that aggregate",
         "2p_x": "2P + X: two threads a port, one that aggregates"}


def both(rows, value):
    """{(form, ...): {"switch": [seconds], "host": [seconds]}} of rows {(where, form, ...): [report]}, where there are both."""
    found = {}
    for (where, *form), reports in rows.items():
        found.setdefault(tuple(form), {})[where] = [value(report) for report in reports]
    return {form: times for form, times in found.items() if len(times) == 2}


def ratio(times):
    return records.ratios(times["host"], times["switch"])


def comparison_table(head, rows, digits=3):
    """rows: (words, ..., times)"""
    return table((*head, "in the switch, s", "in the host, s", "times as fast"),
                 [(*words, Sample(times["switch"]).spread(digits), Sample(times["host"]).spread(digits), Sample(ratio(times)).spread(2))
                  for *words, times in rows], "l" * len(head) + "rrr")


def comparison_panel(heading, rows, aim):
    """A bar for each row (words, times): how many times as fast."""
    return Panel(heading, "times as fast in the switch as in the host", rows=[(words, Sample(ratio(times)), "ours") for words, times in rows],
                 marks=[(1, "the host"), aim])
