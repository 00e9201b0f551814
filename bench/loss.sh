#!/usr/bin/env bash
# script/bench loss        what losses cost: swagg and Open MPI under the same, and faster links in the simulator
# Takes 3 minutes a run and 1 once; a look takes 4.
#
# Measures: loss.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,LOSS,VARIANT,allreduce.json and DIRECTORY/sim.json, of which loss.py
# makes figures.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

tensor="20M 2 1"
[ -z "$quick" ] || tensor="8M 2 1"
net_begin bench
net_hosts 4
net_limit 100mbit # so that links are the limit, and not the CPUs that all share
for ((run = 1; run <= runs; run++)); do
    for percent in 0 0.01 0.1 1; do
        start_swagg "$(awk "BEGIN { print $percent / 100 }")"
        measure_offloaded "${percent}pct,swagg" allreduce "$tensor"
        measure "${percent}pct,openmpi" allreduce "$tensor"
        net_swagg_stop
    done
done
"$NET_BUILD/sim/swagg-sim" tat --runs "$runs" --json "$records/sim.json" | tee "$records/sim.txt"
