#!/usr/bin/env bash
# Hosts with two links, each to a switch of its own: every call is shared between them, also where hosts have several ranks. Links lose
# frames, a switch restarts, the cable of a host is pulled, a switch does not come back: the other goes on, and what is mended is used again. The last one is named.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rank_switch() { # RANK
    echo "$(net_switch_ip),$(net_second net_switch_ip)"
}

results() {
    net_telemetry /swagg/counters results
}

# How many sums each has sent since the two numbers.
shares() { # FIRST SECOND
    echo $(($(results) - $1)) $(($(net_second results) - $2))
}

begin_with_swagg links "timers: {lost_after_ms: 10000}"
net_second net_links
net_second net_swagg_with "timers: {lost_after_ms: 10000}"

step "both switches add, half of the first three calls each, then what their links carry"
was=("$(results)" "$(net_second results)")
ranks_run both 4 --sizes 1000003 --calls 4
read -r first second <<<"$(shares "${was[@]}")"
if ((first < 4000 || second < 4000)); then
    fail "the first switch has sent $first sums, the second $second"
fi
ranks_run sizes 4 --sizes 0,1,365,366,100003 --calls 40
ranks_run arrival 4 --mode arrival --sizes 1,365,100003 --calls 40

step "two ranks a host: its rails go by both"
was=("$(results)" "$(net_second results)")
ranks_run eight 8 --sizes 1,365,100003,300003 --calls 20
read -r first second <<<"$(shares "${was[@]}")"
if ((first < 1000 || second < 1000)); then
    fail "the first switch has sent $first sums, the second $second"
fi

step "an MPI program by both"
out=$(net_mpirun 4 -x "LD_PRELOAD=$NET_BUILD/mpi-shim/libswagg-mpi.so" -x "SWAGG_SWITCH=$(rank_switch)" -x SWAGG_ANSWER_TIMEOUT_MS=60000 \
    -x SWAGG_JOIN_TIMEOUT_MS=300000 -x SWAGG_MIN_BYTES=8K -- "$NET_BUILD/tests/mpi/mpi-reductions" 2>&1) || fail "$out"
expect_match "what it prints" "$out" 'reductions: [1-9][0-9]* checks, 0 wrong'

step "the second switch, whose links lose frames, restarts in the midst of calls"
for host in 0 1 2 3; do
    net_second net_ctl impair set "h$host" rx drop=0.005
done
ranks_start restarts 4 --until-told --largest 300K --pause 5 --seed 3
ranks_say 60 open
sums_go_on 200
net_second net_swagg_kill
net_second net_swagg_start "$NET_DIR/second/swagg.yaml"
sums_go_on 200
job_ends
expect_match "what rank 0 says" "$(rank_log 0)" '1 resumed'

cut() { # HOST: its second link
    ip -n "$NET_ID-h$1" link set eth1 down
}

mend() { # HOST
    ip -n "$NET_ID-h$1" link set eth1 up
}

step "the cable of one host to the second switch is pulled in the midst of calls: the first goes on with its part"
ranks_start cut 4 --until-told --largest 300K --pause 5 --seed 5 --link-timeout 2000
ranks_say 60 open
sums_go_on 200
cut 1
ranks_say 60 'does without the switch'
sums_go_on 200

step "it is mended: its switch sums its part again"
mend 1
ranks_say 120 'sums its part again'
before=$(net_second results)
sums_go_on 400
if (($(net_second results) == before)); then
    fail "it has sent no more than $before sums"
fi
job_ends

step "two ranks a host: their rails do so, too"
ranks_start rails 8 --until-told --largest 300K --pause 5 --seed 4 --link-timeout 2000
ranks_say 60 open
sums_go_on 200
cut 2
ranks_say 60 'does without the switch'
sums_go_on 200
job_ends

mend 2

step "a rank that is killed is named, however many links there are"
ranks_start killed 4 --calls 1000000
ranks_say 60 open
sums_go_on 200
kill -KILL "${RANK_PID[2]}"
ranks_wait 120
expect_told 'rank 2' 0 1 3

step "so is the second switch done without, and the first that does not come back either is named"
ranks_start gone 4 --calls 1000000 --call-timeout 40000 --link-timeout 2000
ranks_say 60 open
net_second net_swagg_kill
ranks_say 60 'does without the switch'
sums_go_on 200
net_swagg_kill
ranks_wait 120
expect_told "$(net_switch_ip | sed 's/\./\\./g')" 0 1 2 3
