#!/usr/bin/env bash
# Unmodified MPI programs on four hosts with swagg as the only thing between them: all of Open MPI's own traffic is
# switched, the sums are taken on the way.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PROGRAMS=$NET_BUILD/tests/mpi
SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so
out=

# Runs a program through the shim; what it prints is in $out. What goes to the switch does not depend on how fast it is, but where
# SWAGG_MIN_BYTES is set to nothing.
offloaded() { # RANKS [MPIRUN OPTION...] -- PROGRAM [ARGUMENT...]
    local ranks=$1
    shift
    out=$(net_mpirun "$ranks" -x "LD_PRELOAD=$SHIM" -x "SWAGG_SWITCH=$(net_switch_ip)" -x SWAGG_ANSWER_TIMEOUT_MS=60000 \
        -x SWAGG_JOIN_TIMEOUT_MS=300000 -x "SWAGG_MIN_BYTES=${SWAGG_MIN_BYTES-8K}" "$@" 2>&1) ||
        fail "$* failed:"$'\n'"$out"
}

begin_with_swagg mpi

step "messages and sums, natively: switched, nothing summed"
out=$(net_mpirun 4 -- "$PROGRAMS/mpi-progress" 2>&1)
expect_progress "$out" 4
expect_equal "results of the switch" "$(net_telemetry /swagg/counters results)" 0

step "every form of reduction, through the shim: summed in the switch"
offloaded 4 -- "$PROGRAMS/mpi-reductions"
expect_match "what it prints" "$out" 'reductions: [1-9][0-9]* checks, 0 wrong'
expect_match "the summary" "$out" 'swagg\[0\]: switch .*: offloaded [1-9][0-9]* calls'
[ "$(net_telemetry /swagg/counters results)" -gt 1000 ] || fail "the switch has summed nothing"

step "eight ranks on four hosts find out from which size on the switch is faster; what one run has found out the next one knows, on all hosts, from its first call on; another number of ranks does not"
choices=$NET_DIR/choices # where rank 0 runs, and nowhere else
keeping() { # RANKS
    SWAGG_MIN_BYTES='' offloaded "$1" -x SWAGG_LOG=info -x "SWAGG_CHOICES=$choices" -- "$PROGRAMS/mpi-crossover" 20
}
keeping 8
expect_match "what is known before" "$out" 'swagg\[0\]: SWAGG_CHOICES: 0 lines of '
expect_match "what eight ranks find out" "$out" 'swagg\[0\]: MPI_COMM_WORLD of 8 ranks: MPI_Allreduce goes to the switch .*: measured in'
# By hand: a busy machine may have left too little time to measure.
network=$(sed -n 's/.* count here, of those with //p' <<<"$out")
printf 'swagg choices 1\n%s allreduce 256 bytes 8 ranks several-hosts switch %s\nend 1\n' "$(date -u +%FT%TZ)" "$network" >"$choices"
keeping 8
expect_match "what is known" "$out" 'swagg\[0\]: SWAGG_CHOICES: 1 lines of '
expect_equal "measurements" "$(grep -c 'measured in' <<<"$out")" 0
expect_match "where calls go" "$out" 'swagg\[0\]: switch .*: offloaded 20 calls'
keeping 4
expect_match "what four ranks find out" "$out" 'swagg\[0\]: MPI_COMM_WORLD of 4 ranks: MPI_Allreduce goes to the switch .*: measured in'

step "mpi-perf times Open MPI's own functions past the shim: only half of the calls go to the switch"
SWAGG_MIN_BYTES=0 offloaded 4 -- "$NET_BUILD/bench/mpi-perf" --op bcast -b 1K -e 1K -n 20 -w 4 --beside-library
expect_match "the table" "$out" $'\n +1024 +256 +float +none +0 +[0-9. ]+ 0 +[0-9.]+ +[0-9.]+ +[0-9.]+'
expect_match "the summary" "$out" 'swagg\[0\]: switch .*: offloaded [0-9]+ calls, .*bcast 24[,)]'

step "one host without the shim: the others find out, and nothing goes to the switch"
# shellcheck disable=SC2016 # for the inner shell
offloaded 4 -- sh -c '[ "$OMPI_COMM_WORLD_RANK" != 2 ] || unset LD_PRELOAD; exec "$0"' "$PROGRAMS/mpi-progress"
expect_match "the warning" "$out" "swagg\[0\]: Open MPI's own collectives are used: rank 2 has no shim"
expect_equal "number of warnings" "$(grep -c 'no shim' <<<"$out")" 1
expect_match "the summary" "$out" 'offloaded 0 calls'

step "threads, messages under way"
offloaded 4 -- "$PROGRAMS/mpi-threads"
offloaded 4 -- "$PROGRAMS/mpi-progress"

step "floats travel as SwitchML's numbers: sums are within what the paper proves, and on the wire what they should be"
for numbers in int32 fp16; do
    captures_start
    offloaded 4 -x "SWAGG_NUMBERS=$numbers" -- "$PROGRAMS/mpi-numbers"
    expect_equal "ranks that are right" "$(grep -c '^numbers: rank [0-3], 0 wrong$' <<<"$out")" 4
    expect_match "the summary" "$out" 'swagg\[0\]: switch .*: offloaded [23] calls, .*; failed 0'
    captures_check # knows the format from READY
    expect_match "what check says of $numbers" "$said" 'results: [1-9][0-9]* right, 0 wrong'
done

# The switch is killed and comes back in the midst of a program. One that was over before that, as a busy machine may bring about, tells
# nothing: then another one has more to sum.
outlives_the_switch() { # [MPIRUN OPTION...] -- [ARGUMENT...]: of mpi-perf, which checks the sums
    local options=() program results iterations
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    for iterations in 50 500 5000; do
        results=$(net_telemetry /swagg/counters results)
        net_mpirun 4 -x "LD_PRELOAD=$SHIM" -x "SWAGG_SWITCH=$(net_switch_ip)" -x SWAGG_ANSWER_TIMEOUT_MS=60000 \
            -x SWAGG_JOIN_TIMEOUT_MS=300000 -x SWAGG_MIN_BYTES=8K "${options[@]}" -- \
            "$NET_BUILD/bench/mpi-perf" -b 4M -e 4M -w 0 -n "$iterations" "$@" >"$NET_DIR/perf.log" 2>&1 &
        program=$!
        net_until 20 "sums are being taken" more_results_than $((results + 1000))
        net_swagg_kill
        sleep 0.5
        net_swagg_start "$NET_DIR/swagg.yaml"
        wait "$program" || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
        ! grep -q 'has restarted; rank [0-3] joins again' "$NET_DIR/perf.log" || return 0
    done
    fail "no rank says that the switch has restarted:"$'\n'"$(cat "$NET_DIR/perf.log")"
}

step "the switch is killed and comes back while a program reduces: it does not notice"
outlives_the_switch --

step "the same while ranks are ahead of the root by what is buffered"
outlives_the_switch -x SWAGG_REDUCE=buffered -- --op reduce --time loop

step "no switch any more: one warning, then Open MPI alone"
net_swagg_stop
net_bridge
offloaded 4 -x SWAGG_JOIN_TIMEOUT_MS=1000 -- "$PROGRAMS/mpi-progress"
expect_progress "$out" 4
expect_equal "number of warnings" "$(grep -c 'stays with Open MPI' <<<"$out")" 1
expect_match "the summary" "$out" 'offloaded 0 calls'
