#!/usr/bin/env python3
"""Makes a section of what core.sh measured: core.py RECORDS RESULTS.md [FIGURES.json]"""
import os
import shutil
import sys

import report

directory, results, *figures_file = sys.argv[1:]
with open(os.path.join(directory, "core.txt")) as f:
    text = f.read()
report.write_section(results, "core", f"Measured by `script/bench core` on {report.machine()}.\n\n```\n{text.strip()}\n```")
if figures_file:
    shutil.copy(os.path.join(directory, "core.json"), figures_file[0])
