#!/usr/bin/env bash
# Where several hosts share a port of the switch, one of them that floods its control port takes nothing from the others: neither as a member of
# a job of its own, nor as a stranger, nor under thousands of forged addresses.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FLOOD=100000 # messages
FLOODER=3    # host

net_begin floods
net_hosts 4
net_bridge_with_cable 1500
net_swagg_beside 1500
NET_HOSTS=3

dropped() { # NAME
    net_telemetry /swagg/drops,bridge "$1"
}

floods() { # HOW
    net_exec "$FLOODER" "$(dirname "${BASH_SOURCE[0]}")/control_flood.py" "$1" "$(net_switch_ip)" "$FLOOD" "$(switch_mac)"
}

switch_mac() {
    ip netns exec "$NET_ID-sw" cat /sys/class/net/swagg0/address
}

handled() {
    net_telemetry /swagg/counters control_received
}

# The switch does next to nothing about a flood, and it costs nobody a place. Where the main thread has had no CPU for a while, what was let in
# has filled its line meanwhile: then another one is tried.
costs_others_nothing() { # HOW DROPPED_AS
    local before full
    for _ in 1 2 3 4 5; do
        before=$(handled)
        full=$(dropped control_full)
        floods "$1"
        [ "$(dropped control_full)" -gt "$full" ] || break
    done
    expect_equal "messages for which there was no room" "$(($(dropped control_full) - full))" 0
    [ $(($(handled) - before)) -lt $((FLOOD / 10)) ] || fail "$(($(handled) - before)) messages of $FLOOD were handled"
    [ "$(dropped "$2")" -gt $((FLOOD / 2)) ] || fail "$(dropped "$2") of $FLOOD were dropped as $2"
}

step "a job beside which another's member floods: nothing of it is lost"
ranks_start beside 3 --until-told --largest 5000 --pause 5
ranks_say 30 open
costs_others_nothing member control_member_rate

step "the same beside a stranger"
costs_others_nothing stranger control_rate

step "the same beside thousands of them, all forged; and new jobs begin"
floods forged &
flood=$!
ranks_aside beside
ranks_run new 3 --sizes 1,1000 --calls 3
net_until 60 "the flood is over" net_gone "$flood"
ranks_back
job_ends
