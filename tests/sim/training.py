#!/usr/bin/env python3
"""training.py BENCH-TRAIN: many workers in one process learn as well from compressed sums as from sums of floats; where packets are lost, their
models differ unless they are made the same; and where some come late in every step, what they had is learned from nevertheless."""
import json
import subprocess
import sys


def train(*options):
    words = [sys.argv[1], "--epochs", "2", "--steps", "4", "--batch", "128", *options, "/usr/share/common-licenses/GPL-3"]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def loss(run):
    return run["epochs"][-1]["loss"]


exact = train("--workers", "64")
compressed = train("--workers", "64", "--compression", "thc")
assert exact["agree"] and compressed["agree"]
assert exact["nmse"] == 0 and 0 < compressed["nmse"] < 0.05, compressed
assert 0 < abs(loss(exact) - loss(compressed)) < loss(exact) / 50, (exact, compressed)
assert loss(exact) < exact["epochs"][0]["loss"] < 4.2, exact

eight = ("--workers", "8", "--compression", "thc")
whole, again, lossy, together = (train(*eight, *options) for options in ((), (), ("--loss", "0.05"), ("--loss", "0.05", "--synchronize")))
assert whole == again and whole["agree"] and whole["missed"] == 0, (whole, again)
assert not lossy["agree"] and lossy["missed"] > 0, lossy
assert together["agree"] and together["missed"] == lossy["missed"], together

# A quarter is late in every step: all have the same sums, and nothing of what was late is lost.
late, feedback_lost = (train("--workers", "8", "--late", "2", *options) for options in (("--compression", "thc"), ()))
assert late["agree"] and late["missed"] == 0 and late != whole, late
assert abs(loss(late) - loss(whole)) < loss(whole) / 50, (late, whole)
assert feedback_lost["agree"] and loss(feedback_lost) < feedback_lost["epochs"][0]["loss"], feedback_lost
