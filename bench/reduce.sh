#!/usr/bin/env bash
# script/bench reduce      MPI_Reduce by size, as OSU's osu_reduce takes the time and in a loop: swagg, complete and buffered
# Takes 1 minutes a run and 0 once; a look takes 1.
#
# Measures: reduce.sh RUNS DIRECTORY. Leaves DIRECTORY/RUN,VARIANT,TIMING.json, of which reduce.py makes figures. All variants
# take turns in each run, so that a machine that grows slower does so for all.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

measure_sizes() { # VARIANT [MPIRUN OPTION...]
    local variant=$1 timing
    shift
    for timing in mean loop; do
        net_mpirun 4 "$@" -- "$MPI_PERF" --op reduce --time "$timing" -b 8K -e 2M -f 4 -n 20 -w 5 \
            --json "$records/$run,$variant,$timing.json" >"$NET_DIR/mpi.log" 2>&1
        printf '  run %s: %s, %s\n' "$run" "$variant" "$timing"
    done
}

# The same through the shim; the sums must have been the switch's.
measure_sizes_offloaded() { # VARIANT SWAGG_REDUCE
    local before
    before=$(net_telemetry /swagg/counters results)
    measure_sizes "$1" -x "LD_PRELOAD=$SHIM" -x "SWAGG_SWITCH=$(net_switch_ip)" -x "SWAGG_REDUCE=$2" \
        -x SWAGG_MIN_BYTES=8K
    [ "$(net_telemetry /swagg/counters results)" -gt $((before + 50000)) ] || fail "the switch did not add these: $1"
}

net_begin bench
net_hosts 4
net_limit 200mbit
for ((run = 1; run <= runs; run++)); do
    net_bridge
    measure_sizes openmpi
    net_bridge_remove
    start_swagg 0
    measure_sizes_offloaded complete complete
    measure_sizes_offloaded buffered buffered
    net_swagg_stop
done
