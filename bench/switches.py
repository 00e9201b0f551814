"""Several switches, the places that one can have, and the ways of the paper that swagg began with: what switches.sh measured, part
by part (parted.py)."""
import parted
import rooms
from parts import bump, case1, case2, rules, scale, tree

MEASURES = (*rooms.WORKERS, "lib/core/clone", "lib/core/gather", "lib/core/hostagg", "lib/core/relay", "sim/scale", "traffic/samples")  # rooms.py

PARTS = {"tree": tree, "case1": case1, "case2": case2, "bump": bump, "rules": rules, "scale": scale}
FIGURES = parted.figures_of(PARTS)


def ways(directory):
    return parted.ways(PARTS, directory)


def collect(directory):
    return parted.collect(PARTS, directory, MEASURES)


def pages(data):
    return {"switches": parted.page(PARTS, data)}


def plots(data):
    return parted.plots(PARTS, data)
