#!/usr/bin/env bash
# Hosts with two links, each to a switch of its own: every call is shared between them, also where hosts have several ranks. Links lose
# frames, a switch restarts, the cable of a host is pulled, a switch does not come back: the other goes on, and what is mended is used again. The last one is named.
# The same where each switch is a tree of them, and ranks name the leaves of their racks.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/tree.sh
. "$NET_LIB/tree.sh"

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

begin_with_swagg links "timers: {lost_after_ms: 40000}"
net_second net_links
net_second net_swagg_with "timers: {lost_after_ms: 40000}"

step "both switches add, half of the first three calls each, then what their links carry"
was=("$(results)" "$(net_second results)")
ranks_run both 4 --sizes 300003 --calls 4
read -r first second <<<"$(shares "${was[@]}")"
if ((first < 1200 || second < 1200)); then
    fail "the first switch has sent $first sums, the second $second"
fi
ranks_run sizes 4 --sizes 0,1,365,366,100003 --calls 40
ranks_run arrival 4 --mode arrival --sizes 1,365,100003 --calls 40

step "two ranks a host: its rails go by both"
was=("$(results)" "$(net_second results)")
ranks_run eight 8 --sizes 1,365,100003 --calls 10
read -r first second <<<"$(shares "${was[@]}")"
if ((first < 500 || second < 500)); then
    fail "the first switch has sent $first sums, the second $second"
fi

step "an MPI program by both"
out=$(net_mpirun 4 -x "LD_PRELOAD=$NET_BUILD/mpi-shim/libswagg-mpi.so" -x "SWAGG_SWITCH=$(rank_switch 0)" -x SWAGG_ANSWER_TIMEOUT_MS=60000 \
    -x SWAGG_JOIN_TIMEOUT_MS=300000 -x SWAGG_MIN_BYTES=8K -- "$NET_BUILD/tests/mpi/mpi-progress" 2>&1) || fail "$out"
expect_progress "$out" 4
expect_match "the summary" "$out" 'offloaded 3 calls, .*; failed 0'

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
net_until 60 "it sends sums" prints -gt "$(net_second results)" net_second results
sums_go_on 200
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

# Two planes, each a tree of a root and two leaves: three hosts in two racks.
net_hosts_remove
tree_switch root 254
tree_switch left 251 root
tree_switch right 252 root
tree_hosts left 2
tree_hosts right 1
net_second tree_switch second-root 254
net_second tree_switch second-left 251 second-root
net_second tree_switch second-right 252 second-root
for host in 0 1 2; do
    net_second tree_host_link "second-${TREE_SWITCH_OF[host]}" "$host"
done
for name in "${TREE_SWITCHES[@]}"; do
    tree_config "$name" "pool: {megabytes: 32, kept_frames: 512}" "memory: {mode: no-huge, megabytes: 160}" "timers: {lost_after_ms: 40000}"
done
tree_start "${TREE_SWITCHES[@]}"

PLANES=('' second-)
rank_switch() { # RANK: the leaves of its rack
    local leaf=${TREE_SWITCH_OF[$1]}
    echo "${TREE_IP[${PLANES[0]}$leaf]},${TREE_IP[${PLANES[1]}$leaf]}"
}

step "ranks below different leaves: both roots add"
ranks_run planes 3 --sizes 0,1,365,100003 --calls 20 --order '((0,1),(2))'
for name in root second-root; do
    prints -gt 1000 tree_telemetry "$name" /swagg/counters results || fail "$name has sent hardly any sums"
done

step "a rank that names them in another order is refused"
rank_start order 0 3
rank_start order 1 3
is_forming() { # SWITCH
    tree_telemetry "$1" /swagg/job,order | grep -q forming
}
for name in root second-root; do
    net_until 60 "the job forms at $name" is_forming "$name"
done
PLANES=(second- '')
rank_start order 2 3
PLANES=('' second-)
net_until 60 "rank 2 has ended" net_gone "${RANK_PID[2]}"
expect_match "what rank 2 says" "$(rank_log 2)" 'rank 2 .*wants this switch behind its (first|second) link, rank [01] .*wants this switch behind its (first|second) link'
kill -KILL "${RANK_PID[0]}" "${RANK_PID[1]}"

both_results() {
    echo $(($(tree_telemetry root /swagg/counters results) + $(tree_telemetry second-root /swagg/counters results)))
}

# Of whichever plane sums.
both_go_on() { # RESULTS
    net_until 60 "sums go out" prints -gt $(($(both_results) + $1)) both_results
}

step "a leaf of one plane is killed in the midst of calls: the other plane goes on with its part, until it is there again"
ranks_start leaf 3 --until-told --largest 300K --pause 5 --seed 6 --link-timeout 2000 --order '((0,1),(2))'
ranks_say 60 open
both_go_on 200
tree_kill second-left
ranks_say 60 'does without the switch 10.78'
both_go_on 200
tree_start second-left
ranks_say 120 'the switch 10.78[0-9.]* sums its part again'
both_go_on 200
job_ends
