#!/usr/bin/env python3
"""Plays `swagg-sim tat`: tat.py SWAGG_SIM

Where a fixed timer is shorter than the queue before a link, all is sent again and again, and has to fit into the queues, so into
bounded memory. Where one thread fills a link, several that share it are as fast. A switch whose threads overtake each other is not taken
for a full queue."""
import resource
import subprocess
import sys

MEMORY = 512 << 20


def bound():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def rows(kind, *options):
    said = subprocess.run([sys.argv[1], "tat", "--gbps", "1", "--loss", "1", "--runs", "1", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=bound)
    assert said.returncode == 0, said.stdout
    found = [line.split() for line in said.stdout.splitlines() if f" {kind} " in line]
    assert len(found) == 2, said.stdout
    return found


def milliseconds(threads):
    return float(rows("ours", "--mb", "2", "--slots", "1024", "--delay-us", "50", "--calls", "3", "--threads", str(threads))[0][3])


def main():
    for row in rows("paper", "--workers", "16", "--mb", "2"):
        assert int(row[7]) > int(row[6]) / 2, row  # most is sent again
    alone = milliseconds(1)
    for threads in (2, 4):
        shared = milliseconds(threads)
        assert shared <= 1.05 * alone, (threads, shared, alone)
    reordered = ("--gbps", "10", "--mb", "5", "--loss", "0.1", "--shards", "4", "--round-us", "200")
    asks, waits = rows("ours", *reordered)[0], rows("paper", *reordered)[0]
    assert float(asks[3]) <= 1.5 * float(waits[3]), (asks, waits)


main()
