#!/usr/bin/env bash
# script/bench core        nanoseconds a packet in the core, beside memcpy and a bare loop
#
# Measures: core.sh RUNS DIRECTORY. bench-core takes its own medians; RUNS is not for it.
set -euo pipefail
build=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build
"$build/bench/bench-core" --json "$2/core.json" | tee "$2/core.txt"
