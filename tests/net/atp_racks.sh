#!/usr/bin/env bash
# ATP in two levels with real processes: two ranks at a switch of their own, two at the parameter server's. Both switches add; who
# does not say which rack is the server's gets the same sums without anybody's timer; and losses between the switches change nothing.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/tree.sh
. "$NET_LIB/tree.sh"

SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so
SERVER=4 # its host
RANKS=4

net_begin atp_racks
#   near ── h2, h3, the server
#     └── far ── h0, h1
tree_switch near 254
tree_switch far 251 near
tree_hosts far 2
tree_hosts near 3

start() { # of both switches, with the impairments of TREE_IMPAIR
    local name
    for name in far near; do
        tree_config "$name" "atp: {aggregators: 4096}" "pool: {megabytes: 16, kept_frames: 512}" "memory: {mode: no-huge, megabytes: 128}"
    done
    tree_start near far
}

counted() { # SWITCH VERDICT
    tree_telemetry "$1" /swagg/verdicts "$2"
}

results() {
    net_server_ctl --json verdicts |
        python3 -c 'import json, sys; print(next(v["packets"] for v in json.load(sys.stdin)["verdicts"] if v["verdict"] == "atp_results"))'
}

sum_in_racks() { # [MPIRUN OPTION...]; mpi-perf checks the sums
    net_mpirun "$RANKS" -x "LD_PRELOAD=$SHIM" -x "SWAGG_SERVER=$(net_ip "$SERVER")" -x SWAGG_PROTOCOL=atp -x SWAGG_MODE=arrival \
        -x SWAGG_RANKS_PER_RACK=2 -x SWAGG_ANSWER_TIMEOUT_MS=60000 -x SWAGG_MIN_BYTES=0 "$@" -- \
        "$NET_BUILD/bench/mpi-perf" -b 1M -e 1M -w 0 -n 5 --type int32 >"$NET_DIR/perf.log" 2>&1 ||
        fail "mpi-perf failed:"$'\n'"$(cat "$NET_DIR/perf.log")"
    expect_match "the summary" "$(cat "$NET_DIR/perf.log")" 'offloaded [1-9][0-9]* calls, .*; failed 0'
}

start
net_server_start "$SERVER" "timers: {lost_after_ms: 30000}"

step "both switches add: what two racks of ranks send for a chunk is one packet to the server"
sum_in_racks -x SWAGG_SERVER_RACK=2
for name in far near; do
    [ "$(counted "$name" atp_switch_sums)" -gt 1000 ] || fail "the switch $name has sent few sums"
done

step "nobody says which rack is the server's: its switch finds out, and no chunk waits for a question"
before=$(results) asked=$(counted near atp_switch_asked)
sum_in_racks
chunks=$(($(results) - before)) asked=$(($(counted near atp_switch_asked) - asked))
[ "$chunks" -gt 1000 ] || fail "the server has sent few results"
[ "$asked" -lt $((chunks / 2)) ] || fail "of $chunks chunks $asked waited until somebody asked"

step "losses between the switches, whether they know of the near rack or not"
tree_kill near
tree_kill far
# shellcheck disable=SC2034 # tree.sh reads it
TREE_IMPAIR[far]='{rx: {drop: 0.01}}'
start
sum_in_racks -x SWAGG_SERVER_RACK=2
sum_in_racks
[ "$(counted near atp_switch_sums)" -gt 500 ] || fail "the server's switch has sent few sums"
