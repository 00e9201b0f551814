#!/usr/bin/env python3
"""One scrape, to standard output: scrape.py URL ACCEPT"""
import sys
import urllib.request

with urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={"Accept": sys.argv[2]}), timeout=60) as answer:
    sys.stdout.write(answer.read().decode())
