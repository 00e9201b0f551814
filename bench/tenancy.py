"""Many jobs and workers on one switch: what tenancy.sh measured, part by part (parted.py)."""
import parted
import rooms
from parts import auth, one_lcore, sharing

MEASURES = (*rooms.WORKERS, "lib/core/keys", "lib/core/share", "bench/auth.c")  # rooms.py

PARTS = {"one_lcore": one_lcore, "sharing": sharing, "auth": auth}
FIGURES = parted.figures_of(PARTS)


def ways(directory):
    return parted.ways(PARTS, directory, before=1)


def collect(directory):
    return parted.collect(PARTS, directory, MEASURES, before=1)


def pages(data):
    return {"tenancy": parted.page(PARTS, data)}


def plots(data):
    return {}
