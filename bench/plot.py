"""Plots as SVG text: horizontal bars, and lines over a quantity. What is drawn follows the reader's light or dark mode.

A kind is what a mark stands for, and so its colour: "ours", "peer", "second", "third"."""
import math
from dataclasses import dataclass, field
from html import escape

WIDTH = 840
STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.bold { font-weight: 600 } .muted { fill: #59636e } .end { text-anchor: end } .middle { text-anchor: middle }
.back { fill: #ffffff } .grid { stroke: #d8dee4 } .axis { stroke: #818b98 } .mark { stroke: #59636e; stroke-dasharray: 4 3 }
line { stroke-width: 1 } .range { stroke: #1f2328 } .line { fill: none; stroke-width: 2 }
.ours { fill: #0969da; stroke: #0969da } .peer { fill: #818b98; stroke: #818b98 }
.second { fill: #bc4c00; stroke: #bc4c00 } .third { fill: #8250df; stroke: #8250df }
.bar, text { stroke: none !important } path.line { fill: none !important } .thin { stroke-width: 1; opacity: 0.6 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .muted { fill: #9198a1 } .back { fill: #0d1117 } .grid { stroke: #2a313c } .axis { stroke: #656c76 }
.mark { stroke: #9198a1 } .range { stroke: #e6edf3 }
.ours { fill: #4493f8; stroke: #4493f8 } .peer { fill: #9198a1; stroke: #9198a1 }
.second { fill: #f0883e; stroke: #f0883e } .third { fill: #ab7df8; stroke: #ab7df8 }
}
"""


@dataclass
class Panel:
    """One set of axes. `rows` of bars: (label, sample, kind); `series` of lines: (label, kind, [(x, sample)]), with `x_ticks`:
    [(x, label)]. `marks`: [(value, label)], lines that values are held against. `floor`: where the value axis starts."""
    heading: str
    unit: str
    rows: list = field(default_factory=list)
    series: list = field(default_factory=list)
    x_ticks: list = field(default_factory=list)
    x_unit: str = ""
    marks: list = field(default_factory=list)
    digits: int = 2
    log: bool = False
    x_log: bool = True
    floor: float = 0
    ranges: bool = True  # whether lines show the extremes

    def samples(self):
        return [row[1] for row in self.rows] + [sample for *_, points in self.series for _, sample in points]

    def ticks(self):
        values = [value for s in self.samples() for value in (s.median, s.low, s.high) if value is not None]
        if not self.ranges:
            values = [s.median for s in self.samples()]
        values += [value for value, _ in self.marks]
        return log_ticks(min(values), max(values)) if self.log else linear_ticks(self.floor, max(values))


def linear_ticks(low, high):
    raw = (high - low) / 5
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * k for k in (1, 2, 2.5, 5, 10) if power * k >= raw * 0.999)
    count = math.ceil((high - low) / step - 1e-9)
    return [round(low + i * step, 10) for i in range(count + 1)]


def log_ticks(low, high):
    """Steps of 1, 2, 5, or whole decades where these would be many."""
    steps = [round(k * 10.0 ** e, 10) for e in range(-6, 9) for k in (1, 2, 5)]
    first = max(i for i, value in enumerate(steps) if value <= low)
    last = min(i for i, value in enumerate(steps) if value >= high)
    ticks = steps[first:last + 1]
    return ticks if len(ticks) <= 8 else steps[first - first % 3:last + 1 + -last % 3:3]


class Scale:
    """From values to pixels."""

    def __init__(self, low, high, at_low, at_high, log):
        self.map = math.log10 if log else float
        self.low, self.high, self.at_low, self.at_high = self.map(low), self.map(high), at_low, at_high

    def __call__(self, value):
        return self.at_low + (self.map(value) - self.low) / (self.high - self.low) * (self.at_high - self.at_low)


class Drawing:
    def __init__(self, title, height):
        self.height = height
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
                      f'role="img">', f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                      f'<rect class="back" width="{WIDTH}" height="{height}"/>']

    def add(self, element, css, body=None, **attributes):
        said = " ".join(f'{name}="{value:.1f}"' if isinstance(value, float) else f'{name}="{value}"'
                        for name, value in attributes.items())
        self.parts.append(f'<{element} class="{css}" {said}' + ("/>" if body is None else f">{escape(body)}</{element}>"))

    def line(self, css, x1, y1, x2, y2):
        self.add("line", css, x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2))

    def text(self, css, x, y, body):
        self.add("text", css, body, x=float(x), y=float(y))

    def done(self):
        return "\n".join(self.parts + ["</svg>"]) + "\n"


# --- bars -----------------------------------------------------------------------------------------------------------

ROW, BAR, LEFT, RIGHT, HEAD, FOOT = 24, 13, 385, WIDTH - 80, 34, 44


def bars(title, panels):
    """Panels below one another; each bar has its value and, as a thin line, its extremes."""
    drawing = Drawing(title, sum(HEAD + ROW * len(panel.rows) + FOOT for panel in panels) + 6)
    top = 6
    for panel in panels:
        bar_panel(drawing, panel, top)
        top += HEAD + ROW * len(panel.rows) + FOOT
    return drawing.done()


def bar_panel(drawing, panel, top):
    ticks = panel.ticks()
    x = Scale(ticks[0], ticks[-1], LEFT, RIGHT, panel.log)
    first, bottom = top + HEAD, top + HEAD + ROW * len(panel.rows)
    drawing.text("bold", 12, top + 16, panel.heading)
    for tick in ticks:
        drawing.line("grid", x(tick), first, x(tick), bottom)
        drawing.text("muted middle", x(tick), bottom + 15, f"{tick:g}")
    drawing.text("muted middle", (LEFT + RIGHT) / 2, bottom + 31, panel.unit)
    for i, (label, sample, kind) in enumerate(panel.rows):
        y = first + ROW * i + (ROW - BAR) / 2
        drawing.text("end", LEFT - 8, y + 11, label)
        drawing.add("rect", f"bar {kind}", x=float(LEFT), y=y, width=x(sample.median) - LEFT, height=float(BAR))
        end = x(sample.median)
        if sample.low is not None:
            drawing.line("range", x(sample.low), y + BAR / 2, x(sample.high), y + BAR / 2)
            end = max(end, x(sample.high))
        drawing.text("", end + 6, y + 11, f"{sample.median:.{panel.digits}f}")
    drawing.line("axis", LEFT, first, LEFT, bottom)
    for value, label in panel.marks:
        drawing.line("mark", x(value), first - 4, x(value), bottom)
        drawing.text("muted middle", x(value), first - 8, label)


# --- lines ----------------------------------------------------------------------------------------------------------

PLOT_HEIGHT, GAP, SCALE_LEFT, NAMES = 250, 14, 58, 116


def lines(title, panels):
    """Panels beside one another; each line has its name at its end."""
    drawing = Drawing(title, HEAD + PLOT_HEIGHT + FOOT + 6)
    width = (WIDTH - GAP * (len(panels) - 1)) / len(panels)
    for i, panel in enumerate(panels):
        line_panel(drawing, panel, i * (width + GAP), width)
    return drawing.done()


def line_panel(drawing, panel, left, width):
    ticks = panel.ticks()
    top, bottom = HEAD, HEAD + PLOT_HEIGHT
    first, last = left + SCALE_LEFT, left + width - NAMES
    y = Scale(ticks[0], ticks[-1], bottom, top, panel.log)
    x_values = [value for value, _ in panel.x_ticks]
    x = Scale(min(x_values), max(x_values), first + 8, last - 8, panel.x_log)
    drawing.text("bold", left + 12, 20, panel.heading)
    for tick in ticks:
        drawing.line("grid", first, y(tick), last, y(tick))
        drawing.text("muted end", first - 6, y(tick) + 4, f"{tick:g}")
    drawing.add("text", "muted middle", panel.unit, transform=f"translate({left + 16:.1f} {(top + bottom) / 2:.1f}) rotate(-90)")
    drawing.line("axis", first, bottom, last, bottom)
    for value, label in panel.x_ticks:
        drawing.line("axis", x(value), bottom, x(value), bottom + 4)
        drawing.text("muted middle", x(value), bottom + 17, label)
    drawing.text("muted middle", (first + last) / 2, bottom + 35, panel.x_unit)
    for value, label in panel.marks:
        drawing.line("mark", first, y(value), last, y(value))
    for label, kind, points in panel.series:
        curve(drawing, panel, kind, [(x(at), sample) for at, sample in points], y)
    name_lines(drawing, panel, y, last)


def curve(drawing, panel, kind, points, y):
    path = "M" + "L".join(f"{at:.1f} {y(sample.median):.1f}" for at, sample in points)
    drawing.add("path", f"line {kind}", d=path)
    for at, sample in points:
        if panel.ranges and sample.low is not None:
            drawing.line(f"thin {kind}", at, y(sample.low), at, y(sample.high))
        drawing.add("circle", kind, cx=float(at), cy=y(sample.median), r=3)


def name_lines(drawing, panel, y, last):
    """The names beside the lines' ends, apart where the ends are close."""
    ends = sorted([(y(points[-1][1].median), label, kind) for label, kind, points in panel.series] +
                  [(y(value), label, "muted") for value, label in panel.marks])
    lowest = HEAD + PLOT_HEIGHT - 15 * len(ends)
    at = 0
    for i, (end, label, kind) in enumerate(ends):
        at = max(min(end, lowest + 15 * (i + 1)), at + 15 if i else 0)
        drawing.text(kind, last + 4, at + 4, label)
