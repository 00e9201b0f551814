#!/usr/bin/env bash
# script/bench thc         sums compressed to 4 bits: error, bytes on the wire, time, training, CPU; --quick, --records
#
# Measures: thc.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,alone.json (bench-thc), DIRECTORY/RUN,LINKS,WAY.json
# (swagg-perf, and the bytes that rank 0's port carried meanwhile; LINKS is "server" where swagg-ps sums, over links of 100mbit),
# DIRECTORY/RUN,train,WAY.json (the epochs of train-digits), DIRECTORY/RUN,text,RANKS,WAY.json (of train-text),
# DIRECTORY/1,many,WAY.json and DIRECTORY/1,loss,PROBABILITY,SYNCHRONIZE.json (bench-train), and
# DIRECTORY/RUN,100mbit,ALGORITHM,allreduce.json (mpi-perf), of which thc.py makes figures. All ways take turns in each run.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

runs=$1
records=$2
quick=${3:-}
# Hugepages may be in use by others; which pages there are is no matter on veths.
# shellcheck disable=SC2034 # for net_swagg_config
NET_SETTINGS=("memory: {mode: no-huge}")

EPOCHS=12
SERVER=4 # the host of swagg-ps; ranks are on the others
ALGORITHMS=(chosen 4 6 "5 1048576") # of Open MPI: what it chooses, ring, Rabenseifner's, segmented ring
[ -z "$quick" ] || ALGORITHMS=(chosen 4)

# What Debian has everywhere, some 130 KB.
TEXTS=(/usr/share/common-licenses/{Apache-2.0,GFDL-1.3,GPL-2,GPL-3,LGPL-2.1,MPL-2.0})

alone() {
    [ -s "$NET_DIR/gradients" ] ||
        "$NET_BUILD/bench/bench-train" --workers 64 --batch 1024 --epochs 2 --steps 20 --gradients "$NET_DIR/gradients" "${TEXTS[@]}"
    "$NET_BUILD/bench/bench-thc" "$NET_DIR/gradients" >"$NET_DIR/new.json"
}

many() { # BENCH-TRAIN OPTION...
    "$NET_BUILD/bench/bench-train" "$@" "${TEXTS[@]}" >"$NET_DIR/new.json"
}

# More workers than there are hosts, and packets lost, in one process. The same in every run, so in one only.
measure_many() {
    local way loss synchronize
    for way in none thc; do
        record "many,$way" many --workers 64 --compression "$way"
    done
    for loss in 0 0.001 0.01; do
        for synchronize in '' --synchronize; do
            [ "$loss$synchronize" != 0--synchronize ] || continue
            # Options of section 8.3 of the paper.
            # shellcheck disable=SC2086 # none or one
            record "loss,$loss,${synchronize#--}" many --workers 10 --compression thc --granularity 20 --one-in 512 --epochs 8 \
                --loss "$loss" $synchronize
        done
    done
    printf '  run %s: 64 workers, and packets lost, in one process\n' "$run"
}

perf() { # ADDRESS WAY BYTES ITERATIONS WARM-UPS RANK
    net_exec "$6" "$NET_BUILD/bench/swagg-perf" --switch "$1" --job "$2" --size 4 --compression "$2" \
        -b "$3" -e "$3" -n "$4" -w "$5" --timeout 300000 --json "$NET_DIR/perf.json" --rank "$6"
}

carried() { # DIRECTION
    net_exec 0 cat "/sys/class/net/eth0/statistics/$1_bytes"
}

libswagg() { # ADDRESS WAY BYTES ITERATIONS WARM-UPS
    local sent received
    sent=$(carried tx) received=$(carried rx)
    on_every_host perf "$@"
    printf '{"sent": %s, "received": %s, "perf": %s}\n' $(($(carried tx) - sent)) $(($(carried rx) - received)) \
        "$(cat "$NET_DIR/perf.json")" >"$NET_DIR/new.json"
}

measure_ways() { # NAME ADDRESS BYTES ITERATIONS WARM-UPS
    local way
    for way in none thc; do
        record "$1,$way" libswagg "$2" "$way" "${@:3}"
        printf '  run %s: %s, compression %s\n' "$run" "$1" "$way"
    done
}

# No swagg on the way: links of the same rate, behind a Linux bridge. The server's link carries every rank's packets.
measure_server() {
    net_server_start "$SERVER"
    measure_ways server "$(net_ip "$SERVER")" 8M 2 1
    net_server_end TERM
}

measure_openmpi() {
    local options=() algorithm segment
    for one in "${ALGORITHMS[@]}"; do
        read -r algorithm segment <<<"$one"
        options=()
        [ "$algorithm" = chosen ] || options=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm "$algorithm")
        [ -z "$segment" ] || options+=(--mca coll_tuned_allreduce_algorithm_segmentsize "$segment")
        measure "100mbit,$algorithm" allreduce "20M 1 1" "${options[@]}"
    done
}

train() { # RANKS PROGRAM [MPIRUN OPTION...]
    local ranks=$1 program=(train-text --epochs 5 --steps 30 "${TEXTS[@]}")
    [ "$2" != digits ] || program=(train-digits --data "$NET_LIB/../../mpi-shim/examples/data/digits.csv.gz" --epochs "$EPOCHS")
    shift 2
    net_mpirun "$ranks" "$@" -- "$NET_BUILD/mpi-shim/${program[0]}" "${program[@]:1}" >"$NET_DIR/train.out"
    sed -n 's/^epoch *\([0-9]*\)  loss \([0-9.]*\)  accuracy \([0-9.]*\) *\([0-9.]*\) ms$/{"epoch": \1, "loss": \2, "accuracy": \3, "ms": \4}/p' \
        "$NET_DIR/train.out" | paste -sd, | sed 's/.*/[&]/' >"$NET_DIR/new.json"
}

measure_training() {
    local options ranks
    mapfile -t options < <(offloading)
    options+=(-x SWAGG_MIN_BYTES=8K)
    record train,openmpi train 4 digits
    record train,float train 4 digits "${options[@]}"
    record train,thc train 4 digits "${options[@]}" -x SWAGG_COMPRESSION=thc
    for ranks in 4 8; do
        [ "$ranks$quick" != 8quick ] || continue
        record "text,$ranks,float" train "$ranks" text "${options[@]}"
        record "text,$ranks,thc" train "$ranks" text "${options[@]}" -x SWAGG_COMPRESSION=thc
    done
    printf '  run %s: trained\n' "$run"
}

net_begin bench
net_hosts 5
for ((run = 1; run <= runs; run++)); do
    record alone alone
    [ "$run" != 1 ] || measure_many
    net_limit 100mbit
    net_bridge
    measure_openmpi
    measure_server
    net_bridge_remove
    start_swagg 0
    measure_ways 100mbit "$(net_switch_ip)" 20M 2 1
    measure_training
    net_limit none
    measure_ways none "$(net_switch_ip)" 16M 8 2
    net_swagg_stop
done
