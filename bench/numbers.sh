#!/usr/bin/env bash
# script/bench numbers     types, numbers on the wire, many tensors, all sizes beside the best of Open MPI; --records
# Takes 14 minutes a run and 8 once; a look takes 5.
#
# Measures: numbers.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,SETTING,VARIANT,WHAT.json and DIRECTORY/operations.json, of
# which numbers_bench.py makes figures. All variants take turns in each run, so that a machine that grows slower does so for all.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=bench/best.sh
. "$(dirname "${BASH_SOURCE[0]}")/best.sh"

# --- the best of Open MPI (best.sh) ----------------------------------------------------------------------------------------------

ALLREDUCE=(1 2 3 4 6 "5 "{16384,65536,262144,1048576})
REDUCE=(1 7 {2..6}" "{32768,131072,524288})
if [ -n "$quick" ]; then
    ALLREDUCE=(4 6 "5 65536")
    REDUCE=(7 "3 65536")
fi
NOT_FAR_BEHIND=1.8 # times what the best takes
TENSOR="20M 2 1"
FREE_TENSOR="16M 8 2"
TURNS=5 # of short calls of all sizes, of each variant
[ -z "$quick" ] || FINALISTS=1 TENSOR="8M 1 1" TURNS=1

# --- what is measured --------------------------------------------------------------------------------------------------------

# All sizes of an allreduce: as many calls as their time allows. Through the shim its summary is kept, too: it has which sizes went to the
# switch. The size that compares worst is asked for, and chance decides most where calls are short: these take the most turns. Long ones
# take the fewest where links have a limit, which decides there. It counts on which CPUs ranks are: after calls through the
# switch, whose polling thread outweighs nine ranks, the kernel keeps them off its CPU for up to 0.4 s. In turns with calls through the shim
# the same processes call Open MPI's own functions: new processes are elsewhere on the CPUs, which is worth a half of a short call's time.
SETTLE=400
measure_sizes() { # VARIANT TURN [MPIRUN OPTION...]
    local variant=$1 turn=$2 range name begin end factor iterations warmups free limited summary=$NET_DIR/summary.json turns=()
    shift 2
    [ "$variant" = openmpi ] || turns=(--beside-library)
    for range in "small 8 64K 2 60 100 $TURNS $TURNS" "middle 256K 1M 4 10 2 3 2" "large 4M 16M 4 3 3 3 1"; do
        read -r name begin end factor iterations warmups free limited <<<"$range"
        [ "$turn" -le "$([ "$setting" = cpu ] && echo "$free" || echo "$limited")" ] || continue
        rm -f "$summary"
        record "$setting,$variant,$name,$turn" net_mpirun 4 -x "SWAGG_SUMMARY_JSON=$summary" "$@" -- "$MPI_PERF" -b "$begin" -e "$end" \
            -f "$factor" -n "$iterations" -w "$warmups" --settle "$SETTLE" "${turns[@]}" --json "$NET_DIR/new.json"
        [ ! -s "$summary" ] || mv "$summary" "$(record_of "$setting,$variant,$name,$turn,summary")"
        printf '  run %s: turn %s: %s, %s: %s to %s\n' "$run" "$turn" "$setting" "$variant" "$begin" "$end"
    done
}

# Open MPI, swagg as the only switch and swagg beside a bridge in turns: where ranks and lcores are on the CPUs lasts as long as they do and
# decides much, and so does what else the machine does meanwhile.
measure_sizes_in_turns() {
    local turn options
    mapfile -t options < <(offloading)
    for ((turn = 1; turn <= TURNS; turn++)); do
        net_bridge
        measure_sizes openmpi "$turn"
        net_bridge_remove
        start_swagg 0
        measure_sizes swagg "$turn" "${options[@]}"
        net_swagg_stop
        net_bridge_with_cable 1500
        net_swagg_beside 1500
        measure_sizes beside "$turn" "${options[@]}"
        net_swagg_stop
        net_bridge_with_cable_remove
    done
}

libswagg_perf() { # TYPE NUMBERS RANK
    net_exec "$3" "$NET_BUILD/bench/swagg-perf" --switch "$(net_switch_ip)" --job "$1-$2" --size 4 --type "$1" --numbers "$2" \
        -b 20M -e 20M -n 2 -w 1 --timeout 300000 --json "$NET_DIR/new.json" --rank "$3"
}

bench_tensors() { # RANK
    recorded_rank "$1" "$1" "$NET_BUILD/bench/bench-tensors" "$(net_switch_ip)" tensors "$1" 4 1
}

measure_numbers() {
    local way type numbers
    for way in "float native" "float int32" "float fp16" "bfloat16 native"; do
        read -r type numbers <<<"$way"
        record "$setting,libswagg,${type}_$numbers" on_all_ranks 4 libswagg_perf "$type" "$numbers"
        printf '  run %s: %s through libswagg, numbers %s\n' "$run" "$type" "$numbers"
    done
    record "$setting,libswagg,tensors" on_all_ranks 4 bench_tensors
    printf '  run %s: many tensors: %s\n' "$run" "$(cat "$(record_of "$setting,libswagg,tensors")")"
}

on_bridge() {
    net_bridge
    search_and_measure allreduce "$tensor" "${ALLREDUCE[@]}"
    [ "$setting" = cpu ] || search_and_measure reduce "$tensor" "${REDUCE[@]}"
    net_bridge_remove
}

on_swagg() { # [YAML...]
    start_swagg 0 "$@"
    measure_offloaded "$setting,swagg" allreduce "$tensor"
    [ "$setting" = cpu ] || measure_offloaded "$setting,swagg" reduce "$tensor"
    [ "$setting" != 200mbit ] || measure_numbers
    net_swagg_stop
}

# So many hosts, with links of this rate.
hosts() { # COUNT RATE
    ranks=$1
    [ "$NET_HOSTS" = "$ranks" ] || { net_hosts_remove; net_hosts "$ranks"; }
    net_limit "$2"
}

# Many hosts, beside the best of Open MPI; a look is at swagg's share of the bound only. Of its algorithms only those that were not far
# behind on four hosts, over links of the same kind: what sends more than the best there, or waits longer, does so all the more here.
on_many() { # COUNT RATE [YAML...]
    local -a ALLREDUCE REDUCE
    mapfile -t ALLREDUCE < <(setting=200mbit fastest short allreduce 99 "$NOT_FAR_BEHIND")
    mapfile -t REDUCE < <(setting=200mbit fastest short reduce 99 "$NOT_FAR_BEHIND")
    hosts "$1" "$2"
    [ -n "$quick" ] || on_bridge
    on_swagg "${@:3}"
}

[ -s "$records/operations.json" ] || "$NET_BUILD/bench/bench-core" --operations >"$records/operations.json"
net_begin bench
for ((run = 1; run <= runs; run++)); do
    setting=200mbit tensor=$TENSOR
    hosts 4 200mbit
    on_bridge
    on_swagg
    setting=cpu tensor=$FREE_TENSOR
    hosts 4 none
    on_bridge
    on_swagg
    measure_sizes_in_turns
    setting=200mbit_8 tensor=$TENSOR
    on_many 8 200mbit
    setting=100mbit_8
    hosts 8 100mbit
    on_swagg
    setting=50mbit_16
    on_many 16 50mbit "pool: {megabytes: 16}" # as many frames a second as four of 200mbit; buffers of 16 ports leave the pool 28 MB
    setting=200mbit
    hosts 4 200mbit
    measure_sizes_in_turns
done
