#!/usr/bin/env python3
"""Plays the small trees of `swagg-sim scale` twice and checks what it writes: scale.py SWAGG_SIM COSTS TEMPORARY_DIRECTORY

All time in it is simulated, so the figures are the same on every machine, however busy it is."""
import json
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

PAGE = "# A page\n\nBefore.\n\n<!-- swagg-sim scale -->\nold tables\n<!-- end of swagg-sim scale -->\n\nBehind.\n"
SVG = "{http://www.w3.org/2000/svg}"


def play(program, costs, directory):
    """What it writes: page, picture, figures."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "scale.md").write_text(PAGE)
    said = subprocess.run([program, "scale", "--small", "--costs", costs, "--out", directory, "--json", directory / "scale.json"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert said.returncode == 0, said.stdout
    return [(directory / name).read_text() for name in ("scale.md", "scale.svg", "scale.json")]


def check_figures(figures):
    assert figures["exact"] == 1
    for workers in (6, 12):
        share, twice = figures[f"goodput_{workers}_share"], figures[f"goodput_{workers}_share_twice"]
        assert 0.95 <= share <= 1 and abs(share - twice) < 0.01, (workers, share, twice)
        assert 0 < figures[f"ring_{workers}_share"] < 0.61, workers
        for speed in (10, 100):
            calm, lossy = (f"scale_{workers}_{speed}g_{ppm}ppm" for ppm in (0, 1000))
            assert 0.95 <= figures[f"{calm}_share"] <= 1, calm
            assert figures[f"{calm}_lost"] == figures[f"{calm}_retransmitted"] == 0, calm
            assert 0.5 < figures[f"{lossy}_whole_share"] < figures[f"{calm}_whole_share"] < 1, lossy
            assert figures[f"{lossy}_lost"] > 0 and figures[f"{lossy}_retransmitted"] > 0, lossy
    short, long = figures["restart_0_delayed_s"], figures["restart_1_delayed_s"]
    assert 0.1 <= short < 5 and short + 0.5 < long < 10, (short, long)


def check_picture(text):
    root = xml.fromstring(text)
    lines = root.findall(f"{SVG}path")
    assert root.tag == f"{SVG}svg" and len(lines) == 6, len(lines)
    assert {node.text for node in root.iter(f"{SVG}text")} >= {"6 workers", "a ring of 12, at most", "10", "100", "0.1"}


def check_page(text):
    assert text.startswith(PAGE[:PAGE.index("old tables")]) and text.endswith(PAGE[PAGE.index("<!-- end"):]), text
    assert "old tables" not in text and text.count("| 12; 7 switches, 3 levels |") == 2, text


def main():
    program, costs, temporary = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    first, again = (play(program, costs, temporary / name) for name in ("first", "again"))
    page, picture, figures = first
    assert first == again, "the same seeds have given something else"
    check_page(page)
    check_picture(picture)
    check_figures(json.loads(figures))
    bad = subprocess.run([program, "scale", "--small", "--costs", temporary / "first/scale.json"], stderr=subprocess.PIPE, text=True)
    assert bad.returncode == 1 and "aggregated" in bad.stderr, bad.stderr


if __name__ == "__main__":
    main()
