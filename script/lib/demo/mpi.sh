# shellcheck shell=bash
# shellcheck disable=SC2154 # $root is the demo's
# What script/demo shows of an unmodified MPI program, with its hosts and its switch.

TRAIN=$NET_BUILD/mpi-shim/train-digits
DIGITS=$root/mpi-shim/examples/data/digits.csv.gz
MPI_PERF=$NET_BUILD/bench/mpi-perf
SWAGG=(-x "LD_PRELOAD=$NET_BUILD/mpi-shim/libswagg-mpi.so" -x "SWAGG_SWITCH=$(net_switch_ip)"
    -x SWAGG_MIN_BYTES=8K # not as measured: the same calls must go to the switch in each run, for the same bits
    -x SWAGG_CALL_TIMEOUT_MS=300000 -x SWAGG_ANSWER_TIMEOUT_MS=300000 -x SWAGG_JOIN_TIMEOUT_MS=300000)

# Shows the command as a user would type it, and its output as it comes; keeps that in a file, too.
show_mpirun() { # LOG MPIRUN-ARGUMENT...
    local log=$1
    shift
    say "\$ mpirun -n 4 $(sed -E 's:(^|[ =])/[^ ]*/:\1:g' <<<"$*")"
    { net_mpirun 4 "$@" 2>&1 | tee "$log"; } &
    await 60 "training" $!
}

train() { # NAME [MPIRUN OPTION...]
    local name=$1
    shift
    show_mpirun "$NET_DIR/$name.out" "$@" -- "$TRAIN" --data "$DIGITS" --model "$NET_DIR/$name.model"
    grep -q 'the same on all ranks' "$NET_DIR/$name.out" || fail "the ranks of run $name have different models"
}

measure() { # NAME OP LARGEST [MPIRUN OPTION...]
    local name=$1 op=$2 largest=$3
    shift 3
    net_mpirun 4 "$@" -- "$MPI_PERF" --op "$op" -b 64K -e "$largest" -f 4 -n 7 -w 2 \
        --json "$NET_DIR/$op.$name.json" >"$NET_DIR/$op.$name.out" 2>&1 &
    await 120 "$op with $name" $! || fail "$op with $name failed: $(cat "$NET_DIR/$op.$name.out")"
}

# A table of both collectives, swagg beside Open MPI.
compare() { # LARGEST
    local op
    for op in allreduce reduce; do
        measure swagg $op "$1" "${SWAGG[@]}"
        measure native $op "$1"
    done
    "$root/script/lib/side-by-side.py" "$NET_DIR"/{allreduce,reduce}.{swagg,native}.json
}

accuracy() { # NAME
    sed -n 's/^model .* accuracy \([0-9.]*\),.*/\1/p' "$NET_DIR/$1.out"
}

# "CALLS BYTES" that the shim says it offloaded.
offloaded() { # NAME
    sed -n 's/.*offloaded \([0-9]*\) calls, \([0-9]*\) bytes.*/\1 \2/p' "$NET_DIR/$1.out"
}

train swagg1 "${SWAGG[@]}"
train swagg2 "${SWAGG[@]}"
summed=$(net_telemetry /swagg/counters results)
train native

say "Reductions on links of 200 Mbit/s, where the wire decides; Open MPI's own go through the same switch"
net_limit 200mbit
compare 4M
say "The same without a limit, where the CPUs decide: hosts and switch share $(nproc)"
net_limit none
compare 16M

say "What was promised"
read -r calls bytes <<<"$(offloaded swagg1)"
holds "both runs through the switch end with the same model, bit for bit" cmp "$NET_DIR/swagg1.model" "$NET_DIR/swagg2.model"
holds "accuracy with swagg ($(accuracy swagg1)) equals Open MPI's ($(accuracy native)) within $TOLERANCE" \
    close_enough "$(accuracy swagg1)" "$(accuracy native)"
holds "every rank handed $calls calls, $bytes bytes of gradients to the switch in each run" test "$calls" -gt 0
holds "the switch sent $summed sums for them" test "$summed" -gt 0
