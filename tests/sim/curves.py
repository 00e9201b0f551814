#!/usr/bin/env python3
"""Plays the small curves of `swagg-sim atp` twice, and checks what is in them: curves.py SWAGG_SIM TEMPORARY_DIRECTORY

All time in it is simulated, so the points are the same on every machine, however busy it is."""
import json
import subprocess
import sys
from pathlib import Path


def play(program, path):
    said = subprocess.run([program, "atp", "--curves", "--small", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert said.returncode == 0, said.stdout
    return path.read_text()


def find(points, **wanted):
    found = [p for p in points if all(p[key] == value for key, value in wanted.items())]
    assert found, wanted
    return found


def check(points):
    for p in points:
        assert 0 < p["share"] <= 1.001 and 0 < p["jain"] <= 1.0001 and p["to_server"] > 0.8, p
    for n in (3,):
        for p in find(points, curve="loss", workers=n, loss_pct=0):
            assert p["share"] > 0.98, p
        lossy = [p["share"] for p in find(points, curve="loss", workers=n)]
        assert lossy[-1] < lossy[0], lossy
        for p in find(points, curve="forward", workers=n, control=True):
            bound = 1 / (1 + p["forwarded"] * (n - 1))
            assert 0.85 * bound < p["share"] < 1.05 * bound, (p, bound)
        for p in find(points, curve="room", workers=n):
            assert p["share"] > 0.98 and p["jain"] > 0.95, p
        for p in find(points, curve="all_on", workers=n) + find(points, curve="late", workers=n):
            assert p["share"] > 0.9, p
        for name, packets in (("racks", 1), ("racks_near_unknown", 2)):  # for each chunk, to the server
            for p in find(points, curve=name, workers=n):
                assert p["share"] > 0.9 / packets and p["to_server"] < 1.05 * packets, p
        for name in ("unequal_room", "unequal_all_on", "unequal_late"):
            for p in find(points, curve=name, workers=n):
                assert p["share"] > 0.9 and p["jain"] > 0.9, p
        shared, divided = (find(points, curve="turns", workers=n, jobs=2, parts=parts)[0]["share"] for parts in (0, 2))
        assert shared > 0.95 and shared >= divided, (shared, divided)


def main():
    program, temporary = sys.argv[1], Path(sys.argv[2])
    temporary.mkdir(parents=True, exist_ok=True)
    first, again = (play(program, temporary / name) for name in ("first.json", "again.json"))
    assert first == again, "the same seeds have given something else"
    check(json.loads(first)["points"])
    bad = subprocess.run([program, "atp", "--curves", "--small", "--json", "/nowhere/curves.json"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    assert bad.returncode == 1 and "/nowhere/curves.json" in bad.stdout, bad.stdout
    assert '"curve"' not in bad.stdout, bad.stdout  # it is told before anything is played


if __name__ == "__main__":
    main()
