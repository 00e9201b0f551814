#!/usr/bin/env python3
"""Scrapes /metrics as Prometheus does: scraping.py HOST:PORT PERIOD COUNT. The text's two forms in turn, each PERIOD seconds, from when the one before began; COUNT 0: until it is
ended. Says "scrapes" after the first, on stderr; prints {"ms": [...], "bytes": of the last} in the end. "-" in place of HOST:PORT: it wakes as often, and asks nobody."""
import http.client
import itertools
import json
import sys
import time

address, period, count = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
FORMS = itertools.cycle(("text/plain", "application/openmetrics-text"))


def scrape():
    if address == "-":
        return 0, 0
    connection = http.client.HTTPConnection(address, timeout=60)
    began = time.monotonic()
    connection.request("GET", "/metrics", headers={"Accept": next(FORMS)})
    answer = connection.getresponse()
    text = answer.read()
    took = time.monotonic() - began
    connection.close()
    if answer.status != 200:
        sys.exit(f"scraping: {answer.status}: {text[:200]}")
    return 1000 * took, len(text)


def rounds():
    for number in range(count) if count else itertools.count():
        began = time.monotonic()
        yield scrape()
        if number == 0:
            print("scrapes", file=sys.stderr, flush=True)
        if number + 1 != count:
            time.sleep(max(0, began + period - time.monotonic()))


made = list(rounds())
print(json.dumps({"ms": [ms for ms, _ in made], "bytes": made[-1][1]}))
