"""ATP: one job, losses, chunks that the switch passes on, jobs that compete, congestion: what atp.sh measured, part by part (parted.py)."""
import parted
import rooms
from parts import atp_alone, atp_congestion, atp_forwarding, atp_jobs, atp_loss

MEASURES = (*rooms.WORKERS, "lib/core/atp", "lib/core/share", "lib/core/transfer", "server")  # rooms.py

PARTS = {"atp_alone": atp_alone, "atp_loss": atp_loss, "atp_forwarding": atp_forwarding, "atp_jobs": atp_jobs, "atp_congestion": atp_congestion}
FIGURES, ways, collect, pages, plots = parted.bench("atp", PARTS)
