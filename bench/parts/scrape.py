"""Scrapes of a switch with many jobs: what scrape.sh measured."""
from statistics import median

from figures import Figure, Sample, table

FIGURES = (
    Figure("scrape_256x64", "A scrape of 256 jobs of 64 ranks, of which 1,024 have series (the default), takes {:.0f} ms.", "<= 50"),
    Figure("scrape_256x64_memory", "After 100 scrapes the daemon has {:.2f} times the memory that it had after four."),
    Figure("scrape_256x64_all", "With series for each of the 16,384 ranks a scrape takes {:.0f} ms.", first_screen=False),
)
WHATS = {"some": "1,024 ranks with series, the default", "all": "all 16,384 (`metrics.ranks`)"}

READING = """
**A scrape.** 64 addresses of one host join 256 jobs, each a rank of every job, and every rank contributes to four chunks (`bench/parts/crowd.py`), so that all have a histogram. Then `/metrics` is read over loopback,
its two forms in turn, so that each answer is made anew: after four, which do not count, 100 times, and with all ranks 20 times; a figure is the median of a run's. Memory is what is resident of the daemon: before the
first scrape, after the first four, and after all.
"""


def collect(rows):
    figures = {"scrape_256x64": [median(row["ms"]) for row in rows["some",]], "scrape_256x64_memory": [row["kib_after"] / row["kib_warm"] for row in rows["some",]]}
    if ("all",) in rows:
        figures["scrape_256x64_all"] = [median(row["ms"]) for row in rows["all",]]
    return figures, {"scrapes": [{"what": what, "ms": [median(row["ms"]) for row in runs], "longest_ms": [max(row["ms"]) for row in runs], "bytes": runs[0]["bytes"],
                                  **{key: [row[key] / 1024 for row in runs] for key in ("kib_before", "kib_warm", "kib_after")}} for (what,), runs in sorted(rows.items(), reverse=True)]}


def section(data):
    rows = [(WHATS[row["what"]], Sample(row["ms"]).spread(0), f"{max(row['longest_ms']):.0f}", f"{row['bytes'] / 1e6:.1f}",
             *(f"{Sample(row[key]).median:.1f}" for key in ("kib_before", "kib_warm", "kib_after"))) for row in data["scrapes"]]
    return "## A scrape of 256 jobs of 64 ranks\n\n" + table(("which", "time (ms), median (extremes)", "longest", "answer (MB)", "memory before (MiB)", "after four", "after all"), rows)
