#!/usr/bin/env bash
# script/bench idle        what a switch costs that has nothing to do, and what it then takes to answer
#
# Measures: idle.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,SETTING.json: the CPU's share while nothing comes, and the round
# trips of pings to the switch, a fifth of a second apart; "bridge": the same host's pings to a plain Linux bridge.
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"

runs=$1
records=$2
seconds=4
pings=40
if [ -n "${3:-}" ]; then
    seconds=1
    pings=10
fi
settings=("busy: {max_sleep_us: 0}" "quick: {max_sleep_us: 100}" "default: {max_sleep_us: 1000}"
    "slow: {max_sleep_us: 10000}")

cpu_ticks() { # PID: of all its threads, in user and kernel mode
    awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
}

ping_switch() { # NAME SHARE
    ip -n "$NET_ID-h0" neigh flush dev eth0 # the switch before had another MAC address
    net_exec 0 ping -q -c2 -i0.2 "$(net_switch_ip)" >/dev/null || fail "the switch does not answer"
    net_exec 0 ping -c "$pings" -i0.2 "$(net_switch_ip)" | python3 -c '
import json, re, sys
print(json.dumps({"cpu": float(sys.argv[1]), "rtt_ms": [float(t) for t in re.findall("time=([0-9.]+)", sys.stdin.read())]}))' \
        "$2" >"$records/$run,$1.json"
    printf '  run %s: %-8s %s of a CPU, %s\n' "$run" "$1" "$2" "$(cut -c1-90 "$records/$run,$1.json")"
}

measure() { # NAME IDLE
    local before share
    net_swagg_config "$NET_DIR/swagg.yaml" "idle: $2" "lcores: [{rx: [all], tx: [all], aggregate: [0]}]"
    net_swagg_start "$NET_DIR/swagg.yaml"
    sleep 1
    before=$(cpu_ticks "$NET_SWAGG_PID")
    sleep "$seconds"
    share=$(awk "BEGIN { print ($(cpu_ticks "$NET_SWAGG_PID") - $before) / $(getconf CLK_TCK) / $seconds }")
    ping_switch "$1" "$share"
    net_swagg_stop
}

net_begin idle
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    for setting in "${settings[@]}"; do
        measure "${setting%%:*}" "${setting#*: }"
    done
    net_bridge
    ping_switch bridge 0
    net_bridge_remove
done
