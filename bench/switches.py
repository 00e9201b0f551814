"""Several switches, the places that one can have, and the ways of the paper that swagg began with: what switches.sh measured, part
by part (parted.py)."""
import parted
import rooms
from parts import bump, case1, case2, rules, scale, tree

MEASURES = (*rooms.WORKERS, "lib/core/clone", "lib/core/gather", "lib/core/hostagg", "lib/core/relay", "sim/scale", "traffic/samples")  # rooms.py

PARTS = {"tree": tree, "case1": case1, "case2": case2, "bump": bump, "rules": rules, "scale": scale}
FIGURES, ways, collect, pages, plots = parted.bench("switches", PARTS)
