#!/usr/bin/env bash
# script/bench idle        what a switch costs that has nothing to do, and what it then takes to answer
# Takes 1 minutes a run and 0 once; a look takes 1.
#
# Measures: idle.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,SETTING.json: the CPU's share while nothing comes, the round trips
# of pings to the switch, and the times of allreduces of one packet, all a fifth of a second apart; "bridge": the same host's
# pings to a plain Linux bridge.
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
settings=("busy:idle: {max_sleep_us: 0}" "quick:idle: {max_sleep_us: 100}" "default:" "slow:idle: {max_sleep_us: 10000}")

# Prints how long two ranks take, a call of each size up to 1 KiB, in us.
allreduces() {
    local perf=("$NET_BUILD/bench/swagg-perf" --switch "$(net_switch_ip)" --job idle --size 2 -b 4 -e 1K -n 1 -w 0 -p 200) other
    ip netns exec "$NET_ID-h1" "${perf[@]}" --rank 1 >/dev/null &
    other=$!
    net_exec 0 "${perf[@]}" --rank 0 | awk '!/#/ { print $6 }'
    wait "$other"
}

ping_switch() { # NAME SHARE [ALLREDUCE...]
    ip -n "$NET_ID-h0" neigh flush dev eth0 # the switch before had another MAC address
    net_exec 0 ping -q -c2 -i0.2 "$(net_switch_ip)" >/dev/null || fail "the switch does not answer"
    net_exec 0 ping -c "$pings" -i0.2 "$(net_switch_ip)" | python3 -c '
import json, re, sys
cpu, *allreduce_us = map(float, sys.argv[1:])
print(json.dumps({"cpu": cpu, "allreduce_us": allreduce_us,
                  "rtt_ms": [float(t) for t in re.findall("time=([0-9.]+)", sys.stdin.read())]}))' \
        "${@:2}" >"$records/$run,$1.json"
    printf '  run %s: %-8s %s of a CPU, %s\n' "$run" "$1" "$2" "$(cut -c1-90 "$records/$run,$1.json")"
}

measure() { # NAME YAML
    local before share times
    net_swagg_with "$2" "lcores: [{rx: [all], tx: [all], aggregate: [0]}]"
    sleep 1
    before=$(net_swagg_cpu)
    sleep "$seconds"
    share=$(awk "BEGIN { print ($(net_swagg_cpu) - $before) / $seconds }")
    mapfile -t times < <(allreduces)
    [ "${#times[@]}" -gt 0 ] || fail "$1: no allreduce has ended"
    ping_switch "$1" "$share" "${times[@]}"
    net_swagg_stop
}

net_begin idle
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    for setting in "${settings[@]}"; do
        measure "${setting%%:*}" "${setting#*:}"
    done
    net_bridge
    ping_switch bridge 0
    net_bridge_remove
done
