"""What operating a switch costs and tells: what operate.sh measured, part by part (parted.py)."""
import parted
import rooms
from parts import metrics_cost, restart, scrape, why

MEASURES = (*rooms.WORKERS, "lib/host/metrics", "lib/host/views", "swagg/show", "swaggctl")  # rooms.py

PARTS = {"metrics_cost": metrics_cost, "scrape": scrape, "why": why, "restart": restart}
FIGURES, ways, collect, pages, plots = parted.bench("operate", PARTS)
