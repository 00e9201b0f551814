#!/usr/bin/env bash
# script/bench atp_sim     ATP at 100 Gb/s with up to 64 workers and 16 jobs, simulated
# Takes 0 minutes a run and 5 once; a look takes 2.
#
# Measures: atp_sim.sh RUNS DIRECTORY ""|quick. Leaves DIRECTORY/curves.json. Time is simulated, so one run tells everything, and is
# the same on every machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=script/lib/help.sh
. "$root/script/lib/help.sh"

options=()
if [ -n "${3:-}" ]; then
    options=(--small)
fi
"$root/build/sim/swagg-sim" atp --curves --json "$2/curves.json" "${options[@]}"
