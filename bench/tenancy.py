"""Many jobs and workers on one switch: what tenancy.sh measured, part by part (parted.py)."""
import parted
import rooms
from parts import auth, one_lcore, sharing

MEASURES = (*rooms.WORKERS, "lib/core/keys", "lib/core/share", "bench/auth.c")  # rooms.py

PARTS = {"one_lcore": one_lcore, "sharing": sharing, "auth": auth}
FIGURES, ways, collect, pages, plots = parted.bench("tenancy", PARTS, before=1)
