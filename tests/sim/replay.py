#!/usr/bin/env python3
"""Plays `swagg-sim replay` where what must come out can be calculated: replay.py SWAGG_SIM PROFILES

A step whose gradients are all there at once takes the computing before them, and then what their frames take on a link: once with a
switch that sums, 2 (n - 1) / n times with a ring."""
import json
import subprocess
import sys
import tempfile

FRAME, HEADERS_SWITCH, HEADERS_RING = 1460, 76, 78  # bytes: of gradients; of all headers, the preamble and the gap


def play(profile, *options):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([sys.argv[1], "replay", profile, "--json", out.name, *options], stdout=subprocess.DEVNULL, check=True)
        return json.load(out)[0]


def near(what, got, expected, by=0.01):
    assert abs(got / expected - 1) < by, f"{what}: {got}, not {expected}"


def main():
    with tempfile.NamedTemporaryFile("w", suffix=".profile") as made:
        made.write("model M\nlayer first 20M 3 0\nlayer last 20M 5 0\n")
        made.flush()
        for workers, gbps in ((2, 1), (8, 10), (5, 100)):
            said = play(made.name, "--workers", str(workers), "--gbps", str(gbps), "--scale", "4", "--bucket", "20M")
            once = said["bytes"] * 8 / (gbps * 1e6) / FRAME
            by_switch, by_ring = once * (FRAME + HEADERS_SWITCH), once * (FRAME + HEADERS_RING) * 2 * (workers - 1) / workers
            assert said["calls"] == 2 and said["bytes"] == 40 << 18
            near("switch", said["switch_step_ms"], 8 + by_switch, 0.01 if gbps < 100 else 0.03)
            near("ring", said["ring_step_ms"], 8 + by_ring, 0.01 if gbps < 100 else 0.03)
            near("communication", said["switch_communication_ms"], said["switch_step_ms"] - 8)
            near("gain", said["gain"], said["ring_step_ms"] / said["switch_step_ms"])
            assert said["switch_overlap_ms"] == said["ring_overlap_ms"] == 0
    # Gradients that are there early are summed while the model computes, and cost nothing.
    hidden = play(sys.argv[2] + "/ssd.profile", "--scale", "100", "--workers", "4")
    near("hidden", hidden["switch_step_ms"], hidden["computing_ms"])
    near("overlap", hidden["switch_overlap_ms"], hidden["switch_communication_ms"], 0.05)


main()
