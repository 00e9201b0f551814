#!/usr/bin/env bash
# script/bench collectives  broadcast, all-gather, reduce-scatter and barrier beside Open MPI's best; calls that are posted; the component beside the preload
# Takes 7 minutes a run and 4 once; a look takes 5.
#
# Measures: collectives.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,LINKS,VARIANT,OP.json, of mpi-perf, and RUN,LINKS,posted.json and
# RUN,LINKS,WAY,small.json, of bench-posted, and RUN,LINKS,TURN,RANGE,OP.json and RUN,none,FRONT_SIZE,TURN,allreduce.json, of mpi-perf, of which collectives.py makes figures.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=bench/best.sh
. "$(dirname "${BASH_SOURCE[0]}")/best.sh"

rounds=5
OPS=(bcast allgather reduce_scatter barrier)
# Algorithms of coll_tuned's for several ranks, by number, those that cut tensors with a segment.
declare -A CANDIDATES=(
    [bcast]="1;2 65536;3 65536;4 65536;5 65536;6;7 65536;8;9"
    [allgather]="1;2;3;4;5"
    [reduce_scatter]="1;2;3;4"
    [barrier]="1;2;3;4;6"
)
COPY="4M 3 1" BARRIER="4 1000 30 400"
[ -z "$quick" ] || CANDIDATES=([bcast]="3 65536;9" [allgather]="4" [reduce_scatter]="3" [barrier]="4") FINALISTS=1
SIZES=("8 400 40" "4K 300 30" "256K 30 5" "4M 3 1")
COMPONENT=(--mca mca_base_component_path "SYSTEM_DEFAULT:$NET_BUILD/mpi-shim")

tensor_of() { # OP
    [ "$1" = barrier ] && echo "$BARRIER" || echo "$COPY"
}

on_bridge() {
    local op candidates
    net_bridge
    for op in "${OPS[@]}"; do
        IFS=';' read -ra candidates <<<"${CANDIDATES[$op]}"
        SHORT=$(tensor_of "$op")
        search_and_measure "$op" "$SHORT" "${candidates[@]}"
    done
    net_bridge_remove
}

# All calls of it must have gone to the switch.
measure_switched() { # VARIANT OP "BYTES ITERATIONS WARM-UPS [SETTLE]" [MPIRUN OPTION...]
    [ ! -s "$(record_of "$setting,$1,$2")" ] || return 0
    measure "$setting,$1" "$2" "$3" "${@:4}" -x SWAGG_MIN_BYTES=0 -x "SWAGG_SWITCH=$(net_switch_ip)" -x SWAGG_FALLBACK=error
    grep -q "offloaded .*[( ]$2 [1-9]" "$NET_DIR/mpi.log" || fail "the switch has done no $2: $(tail -n 5 "$NET_DIR/mpi.log")"
}

on_swagg() {
    local op
    for op in "${OPS[@]}"; do
        measure_switched swagg "$op" "$(tensor_of "$op")" -x "LD_PRELOAD=$SHIM"
    done
}

# Each time with new processes: where they are on the CPUs is worth more than what differs.
FRONT_TURNS=5
[ -z "$quick" ] || FRONT_TURNS=1
both_fronts() {
    local size turn
    for ((turn = 1; turn <= FRONT_TURNS; turn++)); do
        for size in "${SIZES[@]}"; do
            measure_switched "preload_${size%% *},$turn" allreduce "$size" -x "LD_PRELOAD=$SHIM"
            measure_switched "component_${size%% *},$turn" allreduce "$size" "${COMPONENT[@]}"
        done
    done
}

# All sizes, each of which the shim lets go where it finds it to be faster; and in turns with these calls Open MPI's own, by the same
# processes, since where ranks are on the CPUs lasts as long as they do. Each time with new ones.
RANGES=("small 16 64K 8 200 100" "large 256K 4M 4 64 8") # their names, sizes, factor, calls, warm-ups
SETTLE=400
TURNS=2
[ -z "$quick" ] || RANGES=("small 16 8K 8 40 20") SETTLE=100 TURNS=1
measure_ranges() { # TURN
    local op range name begin end factor calls warmups options
    mapfile -t options < <(offloading)
    for range in "${RANGES[@]}"; do
        read -r name begin end factor calls warmups <<<"$range"
        for op in "${OPS[@]}"; do
            [ "$op" != barrier ] || end=$begin
            [ "$op,$name" != barrier,large ] || continue
            record "$setting,$1,$name,$op" net_mpirun 4 "${options[@]}" -- "$MPI_PERF" --op "$op" -b "$begin" -e "$end" -f "$factor" -n "$calls" \
                -w "$warmups" --settle "$SETTLE" --beside-library --json "$NET_DIR/new.json"
        done
        printf '  run %s: turn %s, %s sizes\n' "$run" "$1" "$name"
    done
}

beside_bridge() {
    local turn
    net_bridge_with_cable 1500
    net_swagg_beside 1500
    for ((turn = 1; turn <= TURNS; turn++)); do
        measure_ranges "$turn"
    done
    net_swagg_stop
    net_bridge_with_cable_remove
}

rank() { # RANK
    recorded_rank "$1" "$1" "$NET_BUILD/bench/bench-posted" "$(net_switch_ip)" "$1" 4 "$rounds"
}

# Two ranks a host.
small_rank() { # WAY RANK
    recorded_rank "$2" $(($2 / 2)) "$NET_BUILD/bench/bench-posted" "$(net_switch_ip)" "$2" 8 "$rounds" "$1"
}

posted() {
    record "$setting,posted" on_all_ranks 4 rank
    printf '  run %s: posted, %s: %s\n' "$run" "$setting" "$(cat "$(record_of "$setting,posted")")"
}

posted_small() {
    local way
    for way in flat level; do
        record "$setting,$way,small" on_all_ranks 8 small_rank "$way"
        printf '  run %s: sixteen posted, %s: %s\n' "$run" "$way" "$(cat "$(record_of "$setting,$way,small")")"
    done
}

net_begin bench
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    for setting in 200mbit none; do
        net_limit "$setting"
        on_bridge
        start_swagg 0
        on_swagg
        posted
        [ "$setting" != none ] || both_fronts
        [ "$setting" != none ] || posted_small
        net_swagg_stop
        [ "$setting" != none ] || beside_bridge
    done
done
