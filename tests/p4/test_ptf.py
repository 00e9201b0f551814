"""The tests for the SDE's model (p4/ptf), run on the interpreted program instead."""
import sys
import tempfile
import unittest
from pathlib import Path

import fake_bfrt
import fake_ptf
from rig import LOOP, ROOT

from interpreter.chip import Chip

CPU = 64
chip = Chip(ROOT / "p4/swagg.p4")
chip.loops.add(LOOP)
fake_bfrt.connect("localhost:50052", chip)
fake_ptf.install(chip, (0, 1, 2, 3, 4, 5, 6, 7, CPU))
sys.path.append(str(ROOT / "p4/ptf"))
import swagg  # noqa: E402

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        swagg.OnSwitch.state = Path(folder) / "state"
        suite = unittest.TestSuite([swagg.Vectors("runTest"), swagg.Frames("runTest")])
        sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
