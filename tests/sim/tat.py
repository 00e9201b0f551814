#!/usr/bin/env python3
"""Plays `swagg-sim tat` where a fixed timer is shorter than the queue before a link: tat.py SWAGG_SIM

All is sent again and again then, and has to fit into the queues, so into bounded memory."""
import resource
import subprocess
import sys

MEMORY = 512 << 20


def bound():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    said = subprocess.run([sys.argv[1], "tat", "--gbps", "1", "--workers", "16", "--mb", "2", "--loss", "1", "--runs", "1"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=bound)
    assert said.returncode == 0, said.stdout
    rows = [line.split() for line in said.stdout.splitlines() if " paper " in line]
    assert len(rows) == 2 and all(int(row[7]) > int(row[6]) / 2 for row in rows), said.stdout  # most is sent again


main()
