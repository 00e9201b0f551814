#!/usr/bin/env bash
# script/bench thc         sums compressed to 4 bits: error, bytes on the wire, time, training, CPU; --records
# Takes 5 minutes a run and 4 once; a look takes 5.
#
# Measures: thc.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,alone.json (bench-thc), DIRECTORY/RUN,LINKS,WAY.json
# (swagg-perf, and the bytes that rank 0's port carried meanwhile; LINKS is "server" where swagg-ps sums, over links of 100mbit),
# DIRECTORY/RUN,train,WAY.json (the epochs of train-digits), DIRECTORY/RUN,text,RANKS,WAY.json (of train-text),
# DIRECTORY/1,many,WORKERS,LATE,WAY.json and DIRECTORY/1,loss,PROBABILITY,SYNCHRONIZE.json (bench-train in one process),
# DIRECTORY/RUN,late,WORKERS,LATE,WAY.json (bench-train, a process each) and DIRECTORY/RUN,100mbit,ALGORITHM,allreduce.json (mpi-perf),
# of which thc.py makes figures. All ways take turns in each run.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

EPOCHS=12
LATE_MS=100 # thc_training.py says it, too
LATE_EPOCHS=2
LATE_STEPS=15
MANY=$'4 0\n4 1\n8 0\n8 2\n64 0\n64 6\n64 19' # workers in one process, and how many of them are late
LOSSES=(0.001 0.01)
LATE=(1 2 3) # of ten
[ -z "$quick" ] || LOSSES=(0.01) LATE=(3)
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

# Measures nothing but how well is learned, so as many at a time as there are CPUs. The same in every run, so in one only.
asides=()
aside() { # NAME BENCH-TRAIN OPTION...
    local file
    file=$(record_of "$1")
    [ ! -s "$file" ] || return 0
    [ "${#asides[@]}" -lt "$(nproc)" ] || end_aside
    { "$NET_BUILD/bench/bench-train" "${@:2}" "${TEXTS[@]}" >"$file.new" && mv "$file.new" "$file"; } &
    asides+=($!)
}

end_aside() { # the one that began first
    wait "${asides[0]}" || fail "a training in one process: status $?"
    asides=("${asides[@]:1}")
}

# As in section 8.3 of the paper.
AS_PAPER=(--workers 10 --compression thc --granularity 20 --one-in 512 --epochs 6)

measure_aside() {
    local workers late loss synchronize
    for loss in 0 "${LOSSES[@]}"; do
        for synchronize in '' --synchronize; do
            [ "$loss$synchronize" != 0--synchronize ] || continue
            # shellcheck disable=SC2086 # none or one
            aside "loss,$loss,${synchronize#--}" "${AS_PAPER[@]}" --loss "$loss" $synchronize
        done
    done
    for late in "${LATE[@]}"; do
        aside "many,10,$late,thc" "${AS_PAPER[@]}" --late "$late"
    done
    for late in 0 3; do
        aside "many,10,$late,float" "${AS_PAPER[@]}" --compression none --late "$late"
    done
    if [ -z "$quick" ]; then
        while read -r workers late; do
            aside "many,$workers,$late,thc" --workers "$workers" --compression thc --late "$late"
        done <<<"$MANY"
        aside many,64,0,float --workers 64
    fi
    while [ "${#asides[@]}" -gt 0 ]; do
        end_aside
    done
    printf '  run %s: many workers, late ones, and packets lost, in one process\n' "$run"
}

perf() { # ADDRESS WAY BYTES ITERATIONS WARM-UPS RANK
    local how=(--compression "$2")
    [ "$2" != fp16 ] || how=(--numbers fp16)
    net_exec "$6" "$NET_BUILD/bench/swagg-perf" --switch "$1" --job "$2" --size 4 \
        -b "$3" -e "$3" -n "$4" -w "$5" "${how[@]}" --timeout 300000 --json "$NET_DIR/perf.json" --rank "$6"
}

libswagg() { # ADDRESS WAY BYTES ITERATIONS WARM-UPS
    local sent received
    sent=$(net_carried 0 tx) received=$(net_carried 0 rx)
    on_all_ranks 4 perf "$@"
    printf '{"sent": %s, "received": %s, "perf": %s}\n' $(($(net_carried 0 tx) - sent)) $(($(net_carried 0 rx) - received)) \
        "$(cat "$NET_DIR/perf.json")" >"$NET_DIR/new.json"
}

measure_ways() { # NAME ADDRESS BYTES ITERATIONS WARM-UPS
    local way
    for way in none fp16 thc; do
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

# Two on each host, that of the server included.
train_rank() { # WORKERS LATE QUORUM RANK
    recorded_rank "$4" $(($4 % (SERVER + 1))) "$NET_BUILD/bench/bench-train" --switch "$(net_switch_ip)" --job late --rank "$4" --workers "$1" \
        --compression thc --late "$2" --late-ms "$LATE_MS" --quorum "$3" --epochs "$LATE_EPOCHS" --steps "$LATE_STEPS" "${TEXTS[@]}"
}

# Some are late in each step; all wait for them, or only for a quorum of the others.
measure_late() {
    local late workers
    record late,10,0,all on_all_ranks 10 train_rank 10 0 0
    for late in "${LATE[@]}"; do
        record "late,10,$late,all" on_all_ranks 10 train_rank 10 "$late" 0
        record "late,10,$late,quorum" on_all_ranks 10 train_rank 10 "$late" $((10 - late))
    done
    if [ "$run$quick" = 1 ]; then
        for workers in 4 8; do
            record "late,$workers,1,all" on_all_ranks "$workers" train_rank "$workers" 1 0
            record "late,$workers,1,quorum" on_all_ranks "$workers" train_rank "$workers" 1 $((workers - 1))
        done
    fi
    printf '  run %s: trained with late ranks\n' "$run"
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
    record train,fp16 train 4 digits "${options[@]}" -x SWAGG_NUMBERS=fp16
    record train,thc train 4 digits "${options[@]}" -x SWAGG_COMPRESSION=thc
    record text,4,fp16 train 4 text "${options[@]}" -x SWAGG_NUMBERS=fp16
    for ranks in 4 8; do
        [ "$ranks$quick" != 8quick ] || continue
        record "text,$ranks,float" train "$ranks" text "${options[@]}"
        record "text,$ranks,thc" train "$ranks" text "${options[@]}" -x SWAGG_COMPRESSION=thc
    done
    printf '  run %s: trained\n' "$run"
}

NET_BURST=3028 # two frames: a gradient must not pass in one burst
net_begin bench
net_hosts 5
for ((run = 1; run <= runs; run++)); do
    record alone alone
    net_limit 100mbit
    net_bridge
    measure_openmpi
    measure_server
    net_bridge_remove
    start_swagg 0
    measure_ways 100mbit "$(net_switch_ip)" 20M 2 1
    measure_training
    measure_late
    net_limit none
    measure_ways none "$(net_switch_ip)" 16M 8 2
    net_swagg_stop
    [ "$run" != 1 ] || measure_aside
done
