#!/usr/bin/env python3
"""Makes the drawings: draw.py [--check]. Each NAME.txt beside it becomes NAME.svg: `-`, `|` and `+` are lines, where they touch one
another, the rest is text. --check: says which are not what their text makes, and fails."""
import re
import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDE, HIGH = 9, 18  # a character's place
STYLE = """
text { font: 15px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
.back { fill: #ffffff } path { stroke: #59636e; stroke-width: 1.5; fill: none; stroke-linecap: square }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .back { fill: #0d1117 } path { stroke: #9198a1 } }
"""
ACROSS, DOWN = "-+", "|+"


def at(lines, x, y):
    return lines[y][x] if 0 <= y < len(lines) and 0 <= x < len(lines[y]) else " "


def is_line(lines, x, y):
    """A hyphen in a word is none, nor is a lone sign."""
    sign = at(lines, x, y)
    across = at(lines, x - 1, y) in ACROSS or at(lines, x + 1, y) in ACROSS
    down = at(lines, x, y - 1) in DOWN or at(lines, x, y + 1) in DOWN
    return sign == "-" and across or sign == "|" and down or sign == "+" and (across or down)


def strokes(lines):
    """Half a character's width or height from the middle of a line's sign to each neighbour that it touches."""
    for y, line in enumerate(lines):
        for x, sign in enumerate(line):
            if not is_line(lines, x, y):
                continue
            middle = ((x + 0.5) * WIDE, (y + 0.5) * HIGH)
            for dx, dy, signs in ((-1, 0, ACROSS), (1, 0, ACROSS), (0, -1, DOWN), (0, 1, DOWN)):
                if sign in signs and at(lines, x + dx, y + dy) in signs + ("|" if dx else "-") and is_line(lines, x + dx, y + dy):
                    yield f"M{middle[0]:g} {middle[1]:g}l{dx * WIDE / 2:g} {dy * HIGH / 2:g}"


def words(lines):
    for y, line in enumerate(lines):
        plain = "".join(" " if is_line(lines, x, y) else sign for x, sign in enumerate(line))
        for found in re.finditer(r"\S+(?: \S+)*", plain):
            yield f'<text x="{found.start() * WIDE}" y="{(y + 0.5) * HIGH + 5:g}" textLength="{len(found[0]) * WIDE}">{escape(found[0])}</text>'


def drawn(text):
    lines = text.splitlines()
    width, height = (max(map(len, lines)) + 2) * WIDE, (len(lines) + 1) * HIGH
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
                      f"<style>{STYLE}</style>", f'<rect class="back" width="{width}" height="{height}"/>',
                      f'<path d="{"".join(strokes(lines))}"/>', *words(lines), "</svg>"]) + "\n"


stale = []
for source in sorted(HERE.glob("*.txt")):
    picture, made = source.with_suffix(".svg"), drawn(source.read_text())
    if "--check" not in sys.argv[1:]:
        picture.write_text(made)
    elif not picture.exists() or picture.read_text() != made:
        stale.append(f"docs/drawings/{picture.name} is not what {source.name} makes: run docs/drawings/draw.py")
if stale:
    sys.exit("\n".join(stale))
