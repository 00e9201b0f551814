#!/usr/bin/env bash
# ATP in two levels with real processes: two ranks at a switch of their own, two at the parameter server's. Both switches add; who
# does not say which rack is the server's gets the same sums without anybody's timer; and losses between the switches change nothing.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/tree.sh
. "$NET_LIB/tree.sh"

SERVER=4 # its host

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

rank_switch() { # RANK
    net_ip "$SERVER"
}

sum_in_racks() { # JOB [ARGUMENT...]
    ranks_run "$1" 4 --protocol atp --mode arrival --ranks-per-rack 2 --sizes 1,100003 "${@:2}"
}

start
net_server_start "$SERVER" "timers: {lost_after_ms: 60000}"

step "both switches add: what two racks of ranks send for a chunk is one packet to the server"
sum_in_racks said --server-rack 2
for name in far near; do
    [ "$(counted "$name" atp_switch_sums)" -gt 1000 ] || fail "the switch $name has sent few sums"
done

step "nobody says which rack is the server's: its switch finds out, and no chunk waits for a question"
before=$(server_counted atp_results) asked=$(counted near atp_switch_asked)
sum_in_racks unsaid
chunks=$(($(server_counted atp_results) - before)) asked=$(($(counted near atp_switch_asked) - asked))
[ "$chunks" -gt 1000 ] || fail "the server has sent few results"
[ "$asked" -lt $((chunks / 2)) ] || fail "of $chunks chunks $asked waited until somebody asked"

step "losses between the switches, whether they know of the near rack or not"
tree_kill near
tree_kill far
# shellcheck disable=SC2034 # tree.sh reads it
TREE_IMPAIR[far]='{rx: {drop: 0.01}}'
start
sum_in_racks lossy --server-rack 2
sum_in_racks lossy-unsaid
[ "$(counted near atp_switch_sums)" -gt 500 ] || fail "the server's switch has sent few sums"
