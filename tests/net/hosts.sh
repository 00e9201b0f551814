#!/usr/bin/env bash
# Several ranks on a host: they are summed in its memory first, and the hosts by rails. An MPI program does not notice; the switch may
# restart; who dies is named; nothing of the memory is left.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg hosts "timers: {lost_after_ms: 40000}"

step "eight ranks of an MPI program on four hosts: two on each, two rails"
out=$(net_mpirun 8 -x "LD_PRELOAD=$NET_BUILD/mpi-shim/libswagg-mpi.so" -x "SWAGG_SWITCH=$(net_switch_ip)" -x SWAGG_ANSWER_TIMEOUT_MS=60000 \
    -x SWAGG_JOIN_TIMEOUT_MS=300000 -x SWAGG_MIN_BYTES=8K -x SWAGG_LOG=info -- "$NET_BUILD/tests/mpi/mpi-reductions" 2>&1) || fail "$out"
expect_match "what it prints" "$out" 'reductions: [1-9][0-9]* checks, 0 wrong'
for host in 0 1 2 3; do
    expect_match "what it says of host $host" "$out" "host $host of 4 is that of ranks $host and $((host + 4)); 2 rails"
done

members() { # JOB: how many the switch has
    net_ctl -H -o name,size jobs | awk -v job="$1" '$1 == job { print $2 }'
}

step "swaggctl shows the job, and its rails, whose members are the hosts"
ranks_start eight 8 --until-told --largest 300K --pause 5 --seed 3
ranks_say 60 open
expect_equal "ranks of the job" "$(members eight)" 8
for rail in 0 1; do
    expect_equal "hosts of rail $rail" "$(members "eight~rail$rail")" 4
done

step "the switch is killed in the midst of calls and comes back: nobody notices"
sums_go_on 500
net_swagg_kill
net_swagg_start "$NET_DIR/swagg.yaml"
sums_go_on 500
job_ends
net_until 60 "the jobs are gone" jobs_are_gone

shared() { # what of ranks' memory and meetings has a name
    find /dev/shm -name '*swagg*'
    for host in 0 1 2 3; do
        net_exec "$host" grep -o '@swagg-.*' /proc/net/unix || true
    done
}

# Its peers on the host see it at once, and tell the others.
for dies in 5 0 7; do
    step "rank $dies is killed: all others are told which one, and nothing is left"
    ranks_start "killed$dies" 8 --calls 1000000 --seed "$dies"
    ranks_say 60 open
    sums_go_on 200
    kill -KILL "${RANK_PID[dies]}"
    ranks_wait 60
    living=(0 1 2 3 4 5 6 7)
    unset "living[dies]"
    expect_told "rank $dies( |,)|host $((dies % 4)) \(" "${living[@]}"
    net_until 60 "the jobs are gone" jobs_are_gone
    expect_equal "what is left" "$(shared)" ''
done

step "all ranks on one host: they sum without a word to the switch, but for what they agree on at the start"
before=$(net_telemetry /swagg/counters results)
RANK_PID=()
for rank in 0 1 2 3; do
    rank_start_on 1 one "$rank" 4 --calls 200 --largest 300K --seed 4
done
ranks_succeed 120
refuses more_results_than $((before + 100))
