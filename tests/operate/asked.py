#!/usr/bin/env python3
"""Whether each metric that files name is one that is told: asked.py SCRAPE FILE..."""
import re
import sys
from pathlib import Path

told = set(re.findall(r"^(swagg_[a-z0-9_]+)", Path(sys.argv[1]).read_text(), re.M))
server = {"swagg_status_pool_bytes", "swagg_status_pool_bytes_in_use"}  # swagg-ps tells these
missing = {name for file in sys.argv[2:] for name in re.findall(r"\bswagg_[a-z0-9_]+", Path(file).read_text())} - told - server
if missing:
    sys.exit(f"asked for, and not told: {', '.join(sorted(missing))}")
