"""docs/papers.md, our values beside the papers': in its tables a number right after a figure's name, as in `thc_vs_best` 4.8, is the figure's
median, to two digits; with a %, in percent. What else the page says is written by hand."""
import math
import re

from figures import Sample

VALUE = re.compile(r"(`([\w.]+)`(?:\]\([^)]*\))?) \d[\d.]*\b(%?)")


def two_digits(value):
    return f"{value:.{max(0, 1 - math.floor(math.log10(abs(value)))) if value else 0}f}"


def cell_text(cell, measured):
    """Some figures are on two pages: it is that of a page which the cell links."""
    linked = re.findall(r"\(results/(\w+)\.md", cell)

    def value(match):
        said, name, percent = match.groups()
        pages = [page for page, (_, data) in measured.items() if name in data["figures"]]
        if not pages:
            return match[0]
        page = next((page for page in pages if page in linked), pages[0])
        median = Sample(measured[page][1]["figures"][name]).median
        return f"{said} {f'{median:.0%}' if percent else two_digits(median)}"

    return VALUE.sub(value, cell)


def text(docs, measured):
    def line_text(line):
        return "|".join(cell_text(cell, measured) for cell in line.split("|")) if line.startswith("|") else line

    return "\n".join(map(line_text, (docs / "papers.md").read_text().split("\n")))
