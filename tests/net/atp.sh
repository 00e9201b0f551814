#!/usr/bin/env bash
# ATP with real processes: three workers, a parameter server (swagg-ps) on a host of its own, and the switch between them, which adds
# what it has aggregators for. The switch may be killed, restarted, or be no swagg at all; the server may not.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so
SERVER=3 # its host
SERVER_PID=

server_start() {
    printf '%s\n' "server: {ip: $(net_ip "$SERVER"), threads: 2}" "control: {path: $NET_DIR/ps.ctl}" "timers: {lost_after_ms: 30000}" \
        >"$NET_DIR/server.yaml"
    ip netns exec "$NET_ID-h$SERVER" "$NET_BUILD/server/swagg-ps" "$NET_DIR/server.yaml" >"$NET_DIR/server.log" 2>&1 </dev/null &
    SERVER_PID=$!
    net_until 60 "the parameter server serves" grep -q " serves at " "$NET_DIR/server.log"
}

server_counted() { # VERDICT: of the server's
    "$NET_BUILD/swaggctl/swaggctl" --switch "$NET_DIR/ps.ctl" --json verdicts |
        python3 -c 'import json, sys; print(next(v["packets"] for v in json.load(sys.stdin)["verdicts"] if v["verdict"] == sys.argv[1]))' "$1"
}

switch_counted() { # VERDICT
    net_telemetry /swagg/verdicts "$1"
}

counts_more_than() { # N VERDICT
    [ "$(switch_counted "$2")" -gt "$1" ]
}

# Three ranks, on hosts 0 to 2; mpi-perf checks the sums.
sum_by_atp() { # [MPIRUN OPTION...] -- [ARGUMENT...]
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    net_mpirun 3 -x "LD_PRELOAD=$SHIM" -x "SWAGG_SERVER=$(net_ip "$SERVER")" -x SWAGG_PROTOCOL=atp -x SWAGG_MODE=arrival \
        -x SWAGG_ANSWER_TIMEOUT_MS=60000 -x SWAGG_MIN_BYTES=0 "${options[@]}" -- \
        "$NET_BUILD/bench/mpi-perf" -b 1M -e 1M -w 0 --type int32 "$@"
}

begin_with_swagg atp "atp: {aggregators: 4096}"
server_start

step "the switch adds on the way, and the server gets sums"
sum_by_atp -- -n 10 >"$NET_DIR/perf.log" 2>&1 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'offloaded [1-9][0-9]* calls, .*; failed 0'
sums=$(switch_counted atp_switch_sums)
[ "$sums" -gt 1000 ] || fail "only $sums sums left the switch"
[ "$(server_counted atp_results)" -gt 1000 ] || fail "the server has sent few results"

step "ordered sums are the server's: no packet waits in the switch"
held=$(switch_counted atp_switch_held)
sum_by_atp -x SWAGG_MODE=ordered -- -n 2 >"$NET_DIR/perf.log" 2>&1 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_equal "contributions held by the switch" "$(switch_counted atp_switch_held)" "$held"

step "the switch is killed and comes back while a program reduces: it does not notice"
sum_by_atp -- -n 60 >"$NET_DIR/perf.log" 2>&1 &
program=$!
net_until 60 "sums are being taken" counts_more_than $((sums + 1000)) atp_switch_sums
net_swagg_kill
sleep 0.5
net_swagg_start "$NET_DIR/swagg.yaml"
wait "$program" || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'failed 0'
[ "$(switch_counted atp_switch_sums)" -gt 0 ] || fail "the switch that came back adds nothing"

step "where three links meet one of the same rate, packets are marked; windows follow, and little is lost"
net_swagg_stop
net_limit 100mbit
sed -i 's/device: "kernel:p[0-9]"/&, ecn_above: 50000/' "$NET_DIR/swagg.yaml"
net_swagg_start "$NET_DIR/swagg.yaml"
sum_by_atp -x SWAGG_MODE=ordered -- -n 10 >"$NET_DIR/perf.log" 2>&1 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
[ "$(net_telemetry /swagg/counters congestion_marks)" -gt 0 ] || fail "nothing was marked"

step "no swagg on the way: the server adds everything"
net_swagg_stop
net_bridge
sum_by_atp -- -n 5 >"$NET_DIR/perf.log" 2>&1 || fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'offloaded [1-9][0-9]* calls, .*; failed 0'

step "a server that dies is named"
sum_by_atp -x SWAGG_CALL_TIMEOUT_MS=5000 -- -n 100000 >"$NET_DIR/perf.log" 2>&1 &
program=$!
results=$(server_counted atp_results)
server_answers_more() { [ "$(server_counted atp_results)" -gt $((results + 500)) ]; }
net_until 60 "sums are being taken" server_answers_more
kill -KILL "$SERVER_PID"
wait "$SERVER_PID" || true
! wait "$program" || fail "a program succeeds without its parameter server"
expect_match "the error" "$(cat "$NET_DIR/perf.log")" "the parameter server $(net_ip "$SERVER" | sed 's/\./\\./g')"
