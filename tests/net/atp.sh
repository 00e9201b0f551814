#!/usr/bin/env bash
# ATP with real processes: three workers, a parameter server (swagg-ps) on a host of its own, and the switch between them, which adds
# what it has aggregators for. The switch may be killed, restarted, or be no swagg at all; the server may be killed and started again.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so
SERVER=3 # its host
SECOND=2 # of another one, for a while

# Packets that the server has sent, but for its answers to who asks again, which a busy machine has many of.
server_sent() {
    local answers
    answers=$(($(server_counted atp_results_again) + $(server_counted atp_results_again_to_all) + $(server_counted atp_waits) + 3 * $(server_counted atp_asks)))
    echo $(($(server_counter sent) - answers))
}

server_counter() { # NAME
    net_server_ctl -H -o "$1" counters | awk '{ print $2 }'
}

# Three ranks have had their results since then by few more packets than there were results: by one for all of them.
expect_results_by_group() { # SENT RESULTS: before
    local sent=$(($(server_sent) - $1)) results=$(($(server_counted atp_results) - $2))

    [ "$sent" -lt $((2 * results)) ] || fail "$sent packets for $results results of three ranks"
}

switch_counted() { # VERDICT
    net_telemetry /swagg/verdicts "$1"
}

# Three ranks, on hosts 0 to 2, unless RANKS says otherwise; mpi-perf checks the sums.
RANKS=3
sum_by_atp() { # [MPIRUN OPTION...] -- [ARGUMENT...]
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    net_mpirun "$RANKS" -x "LD_PRELOAD=$SHIM" -x "SWAGG_SERVER=$SERVERS" -x SWAGG_PROTOCOL=atp -x SWAGG_MODE=arrival \
        -x SWAGG_ANSWER_TIMEOUT_MS=60000 -x SWAGG_JOIN_TIMEOUT_MS=300000 -x SWAGG_MIN_BYTES=0 "${options[@]}" -- \
        "$NET_BUILD/bench/mpi-perf" -b 1M -e 1M -w 0 --type int32 "$@"
}

# The same ranks without MPI.
rank_switch() { # RANK
    net_ip "$SERVER"
}
atp_start() { # JOB [ARGUMENT...]
    ranks_start "$1" 3 --protocol atp --mode arrival "${@:2}"
}
atp_run() { # JOB [ARGUMENT...]
    atp_start "$1" --sizes 1,100003 "${@:2}"
    ranks_succeed 120
}

begin_with_swagg atp "atp: {aggregators: 4096}"
net_server_start "$SERVER" "timers: {lost_after_ms: 60000}"
SERVERS=$(net_ip "$SERVER")

step "the switch adds on the way, and the server gets sums"
sum_by_atp -- -n 10 >"$NET_DIR/perf.log" 2>&1 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'offloaded [1-9][0-9]* calls, .*; failed 0'
sums=$(switch_counted atp_switch_sums)
[ "$sums" -gt 1000 ] || fail "only $sums sums left the switch"
[ "$(server_counted atp_results)" -gt 1000 ] || fail "the server has sent few results"
expect_results_by_group 0 0

step "two servers share a job of two ranks, and the switch adds for both; when one of them dies, its name is told"
net_server_start "$SECOND" "timers: {lost_after_ms: 60000}"
sums=$(switch_counted atp_switch_sums)
SECOND_IP=$(net_ip "$SECOND")
share_two() { # [MPIRUN OPTION...] -- [ARGUMENT...]
    local RANKS=2 SERVERS=$SERVERS,$SECOND_IP
    sum_by_atp "$@" >"$NET_DIR/perf.log" 2>&1
}
share_two -- -n 5 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'offloaded [1-9][0-9]* calls, .*; failed 0'
[ "$(switch_counted atp_switch_sums)" -gt $((sums + 1000)) ] || fail "the switch has added little for two servers"
[ "$(server_counted atp_results)" -gt 500 ] || fail "the second server has sent few results"
share_two -x SWAGG_CALL_TIMEOUT_MS=40000 -- -n 100000 &
program=$!
results=$(server_counted atp_results)
server_answers_more() { [ "$(server_counted atp_results)" -gt $((results + 500)) ]; }
net_until 60 "sums are being taken" server_answers_more
net_server_end KILL
! wait "$program" || fail "a program succeeds without one of its parameter servers"
expect_match "the error" "$(cat "$NET_DIR/perf.log")" "the parameter server $(printf '%s' "$SECOND_IP" | sed 's/\./\\./g')"
NET_SERVER=$SERVER

step "ordered sums are the server's: no packet waits in the switch"
held=$(switch_counted atp_switch_held)
atp_run ordered --mode ordered
expect_equal "contributions held by the switch" "$(switch_counted atp_switch_held)" "$held"

# Ranks sum, and in their midst something happens, of which they are to notice nothing.
nothing_is_noticed_of() { # WHAT-HAPPENS WHAT-SHOWS-THAT-IT-WAS-IN-THE-MIDST...
    atp_start "$1" --until-told --largest 300K --pause 5
    ranks_say 60 open
    results=$(server_counted atp_results)
    net_until 60 "sums are being taken" server_answers_more
    "$1"
    "${@:2}"
    job_ends
}

switch_is_killed() {
    net_swagg_kill
    sleep 0.5
    net_swagg_start "$NET_DIR/swagg.yaml"
}

server_is_killed() {
    net_server_end KILL
    net_server_start "$SERVER" "timers: {lost_after_ms: 60000}"
}

both_are_killed() {
    net_server_end KILL
    net_swagg_kill
    net_swagg_start "$NET_DIR/swagg.yaml"
    net_server_start "$SERVER" "timers: {lost_after_ms: 60000}"
}

server_sums_again() {
    net_until 60 "the server sums again" prints -gt 500 server_counted atp_results
}

step "the switch is killed and comes back while ranks reduce: they do not notice"
nothing_is_noticed_of switch_is_killed net_until 60 "the switch adds again" prints -gt 0 switch_counted atp_switch_sums

step "the switch and the server are killed at once: ranks do not notice that either"
nothing_is_noticed_of both_are_killed ranks_say 60 'has restarted; rank [0-2] joins again'

step "where three links meet one of the same rate, packets are marked; windows follow, and little is lost"
net_swagg_stop
net_limit 100mbit
sed -i 's/device: "kernel:p[0-9]"/&, ecn_above: 50000/' "$NET_DIR/swagg.yaml"
net_swagg_start "$NET_DIR/swagg.yaml"
atp_run congested --mode ordered
[ "$(net_telemetry /swagg/counters congestion_marks)" -gt 0 ] || fail "nothing was marked"

step "no swagg on the way: the server adds everything"
net_swagg_stop
net_bridge
sent=$(server_sent) results=$(server_counted atp_results)
sum_by_atp -- -n 5 >"$NET_DIR/perf.log" 2>&1 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'offloaded [1-9][0-9]* calls, .*; failed 0'
expect_results_by_group "$sent" "$results"

step "by SwitchML, too, compressed: the same server, and still no swagg on the way"
net_mpirun 3 -x "LD_PRELOAD=$SHIM" -x "SWAGG_SWITCH=$(net_ip "$SERVER")" -x SWAGG_ANSWER_TIMEOUT_MS=60000 -x SWAGG_JOIN_TIMEOUT_MS=300000 \
    -x SWAGG_FALLBACK=error -x SWAGG_MIN_BYTES=8K -x SWAGG_COMPRESSION=thc -- "$NET_BUILD/tests/mpi/mpi-compressed" >"$NET_DIR/compressed.log" 2>&1 ||
    fail "mpi-compressed failed:"$'\n'"$(cat "$NET_DIR/compressed.log")"
expect_equal "ranks without wrong sums" "$(grep -c '^compressed: rank [0-2], 0 wrong$' "$NET_DIR/compressed.log")" 3
[ "$(server_counted send_all)" -gt 100 ] || fail "the server has summed little"

step "a host that cannot join a group, and one that the network keeps from hearing it, have results one by one"
net_exec 1 sysctl -qw net.ipv4.igmp_max_memberships=0
ip netns exec "$NET_ID-sw" bridge link set dev p2 mcast_flood off
heard=$(server_counted atp_group_heard)
atp_run one-by-one
[ "$(server_counted atp_group_heard)" -gt "$heard" ] || fail "nobody hears the group, not even the third host"

step "the server is killed and comes back while ranks reduce: they do not notice"
nothing_is_noticed_of server_is_killed server_sums_again

step "the server takes a tenant with a key by a reload: whoever has the key is served, others are told what they lack"
key_file lab.key
echo "tenants: [{name: lab, key_file: $NET_DIR/lab.key}]" >>"$NET_DIR/server$SERVER.yaml"
expect_match "what swaggctl tells" "$(net_server_ctl reload)" 'tenants\[lab\] *- *added *now'
atp_run keyed --key-file "$NET_DIR/lab.key"
sum_by_atp -- -n 2 >"$NET_DIR/perf.log" 2>&1 || fail "Open MPI does not take over:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the refusal" "$(cat "$NET_DIR/perf.log")" 'need the key of tenant lab'

step "a server that dies is named"
atp_start dies --calls 1000000 --key-file "$NET_DIR/lab.key" --call-timeout 40000
ranks_say 60 open
results=$(server_counted atp_results)
net_until 60 "sums are being taken" server_answers_more
net_server_end KILL
ranks_wait 60
expect_told "the parameter server $(net_ip "$SERVER" | sed 's/\./\\./g')" 0 1 2
