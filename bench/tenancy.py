"""Many jobs and workers on one switch: what tenancy.sh measured, part by part (parted.py)."""
import parted
from parts import auth, one_lcore, sharing

PARTS = {"one_lcore": one_lcore, "sharing": sharing, "auth": auth}
FIGURES = parted.figures_of(PARTS)


def collect(directory):
    return parted.collect(PARTS, directory, before=1)


def pages(data):
    return {"tenancy": parted.page(PARTS, data)}


def plots(data):
    return {}
