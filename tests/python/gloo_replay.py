#!/usr/bin/python3
"""gloo-replay: ranks replay a model's steps over gloo with right sums, in as many calls as the schedule has; and what it says where it cannot begin.
gloo_replay.py BUILD_DIRECTORY"""
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROFILE = ROOT / "replay/profiles/ncf.profile"
RANKS = 3


def start(words, **torch_says):
    kept = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}
    return subprocess.Popen([ROOT / "replay/gloo-replay", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=kept | {"SWAGG_BUILD": sys.argv[1], "GLOO_SOCKET_IFNAME": "lo"} | torch_says)


def ended(process):
    out, err = process.communicate()
    return process.returncode, out, err


def test_ranks():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.NamedTemporaryFile() as json_file:
        ranks = [start([PROFILE, "--scale", "1000", "-n", "2", "-w", "1", "--json", json_file.name], RANK=str(rank), WORLD_SIZE=str(RANKS),
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)) for rank in range(RANKS)]
        for process in ranks:
            status, out, err = ended(process)
            assert status == 0, (out, err)
        said = json.load(open(json_file.name))
    assert (said["by"], said["ranks"], said["wrong"], len(said["steps_ms"])) == ("gloo", RANKS, 0, 2), said
    assert said["calls"] == 3 and said["communication_ms"] > 0, said


def test_words():
    status, out, _ = ended(start(["--help"]))
    assert status == 0 and "gloo-replay PROFILE" in out, out
    status, _, err = ended(start([PROFILE]))
    assert status == 1 and "MASTER_ADDR" in err and "Traceback" not in err, err


test_words()
test_ranks()
