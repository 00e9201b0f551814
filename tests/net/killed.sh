#!/usr/bin/env bash
# A script with hosts that is killed cannot remove them: whoever started it can, by its id.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Another script, which is killed: it has two hosts, and a process in one.
killed() {
    # shellcheck disable=SC2016 # for the inner shell
    bash -c '. script/lib/netns.sh; net_begin left; net_hosts 2; net_exec 1 sleep infinity & net_until 60 "it sleeps" \
        sh -c "ip netns pids $NET_ID-h1 | grep -q ."; >"$0"; wait' "$NET_DIR/made" >"$NET_DIR/killed.log" 2>&1 </dev/null &
    pid=$!
    net_until 60 "the other script has its hosts" test -e "$NET_DIR/made"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
}

left() { # PID: how many of its namespaces there are
    ip netns list | grep -c "^swagg-left-$1-" || true
}

net_begin killed
cd "$NET_ROOT"

step "its namespaces are left, and a process"
killed
expect_equal "namespaces that are left" "$(left "$pid")" 3
sleeper=$(ip netns pids "swagg-left-$pid-h1")
[ -n "$sleeper" ] || fail "no process is left"

step "all are removed by its id; others' stay"
script/lib/netns-clear "$pid"
expect_equal "namespaces that are left" "$(left "$pid")" 0
net_until 20 "the process has ended" net_gone "$sleeper"
ip netns list | grep -q "^$NET_ID-sw" || fail "another script's namespace is gone"

step "who waits for something does so as long whatever the time of day becomes"
tries=0
sets_the_clock() {
    SECONDS=$((SECONDS + 1000000)) # counts by the time of day
    [ $((++tries)) -eq 3 ]
}
net_until 60 "it was tried three times" sets_the_clock

step "where nothing is left, nothing happens"
script/lib/netns-clear "$pid"
refuses script/lib/netns-clear all 2>/dev/null
