#!/usr/bin/env bash
# script/bench allreduce   allreduce and reduce of MPI programs, with swagg and with plain Open MPI on a Linux bridge
#
# Measures: allreduce.sh RUNS DIRECTORY. Each measurement is a table of mpi-perf's, DIRECTORY/RUN.SETTING.VARIANT.OP.json;
# allreduce.py makes figures of them. All variants take turns in each run, so that a machine that grows slower does so
# for all.
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"

runs=$1
records=$2
MPI_PERF=$NET_BUILD/bench/mpi-perf
SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so

# What each setting measures: tensor bytes, iterations, warm-ups.
declare -A tensor=([200mbit]="20M 2 1" [cpu]="16M 8 2")
RING=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4)
SWAGG=(-x "LD_PRELOAD=$SHIM" -x "SWAGG_SWITCH=$(net_switch_ip)" -x SWAGG_FALLBACK=error)

measure() { # VARIANT OP [MPIRUN OPTION...]
    local variant=$1 op=$2 bytes iterations warmups file
    shift 2
    read -r bytes iterations warmups <<<"${tensor[$setting]}"
    file=$records/$run.$setting.$variant.$op.json
    net_mpirun 4 "$@" -- "$MPI_PERF" --op "$op" -b "$bytes" -e "$bytes" -n "$iterations" -w "$warmups" \
        --json "$file" >"$NET_DIR/mpi.log" 2>&1
    printf '  run %s, %s: %s %s %s s\n' "$run" "$setting" "$op" "$variant" \
        "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["median_us"] / 1e6)' "$file")"
}

# The same through the shim; the sums must have been the switch's.
measure_offloaded() { # VARIANT OP
    local before
    before=$(net_telemetry /swagg/counters results)
    measure "$1" "$2" "${SWAGG[@]}"
    [ "$(net_telemetry /swagg/counters results)" -gt $((before + 10000)) ] || fail "the switch did not add these: $1 $2"
}

on_bridge() {
    net_bridge
    measure openmpi allreduce
    measure openmpi_ring allreduce "${RING[@]}"
    measure openmpi reduce
    net_bridge_remove
}

on_swagg() {
    net_swagg_config "$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
    measure_offloaded swagg allreduce
    measure_offloaded swagg reduce
    measure openmpi_through_swagg allreduce
    net_swagg_stop
}

on_lossy_swagg() { # VARIANT PROBABILITY
    NET_IMPAIR="{rx: {drop: $2}, tx: {drop: $2}}" net_swagg_config "$NET_DIR/swagg.yaml" "seed: $run"
    net_swagg_start "$NET_DIR/swagg.yaml"
    measure_offloaded "$1" allreduce
    net_swagg_stop
}

net_begin bench
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    setting=200mbit
    net_limit 200mbit
    on_bridge
    on_swagg
    on_lossy_swagg swagg_loss_0.1pct 0.001
    on_lossy_swagg swagg_loss_1pct 0.01
    setting=cpu
    net_limit none
    on_bridge
    on_swagg
done
