#!/usr/bin/env bash
# The P4 program, interpreted, as a switch between real interfaces, and swagg-tofino on its CPU's: hosts reach one another and the
# switch, jobs of libswagg join and get right sums over links that lose packets, and leave nothing behind.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin tofino
net_hosts 3

switch_exec() {
    ip netns exec "$NET_ID-sw" "$@"
}

cat >"$NET_DIR/tofino.yaml" <<END
ports:
  - {name: first, device: "kernel:p0"}
switch: {ip: $(net_switch_ip)/24}
timers: {lost_after_ms: 30000}
END

# The link between the chip and its CPU, which alone answers for the switch's address.
switch_exec sysctl -qw net.ipv4.conf.all.arp_ignore=1
switch_exec ip link add chip type veth peer name cpu address "$NET_SWITCH_MAC"
switch_exec ip link set chip up
switch_exec ip link set cpu up
switch_exec ethtool -K cpu tx off >/dev/null
switch_exec ethtool -K chip tx off >/dev/null
switch_exec ip addr add "$(net_switch_ip)/24" dev cpu

switch_start() { # CHIP LOSS
    ip netns exec "$NET_ID-sw" "$NET_BUILD/tofino/swagg-tofino" --interface cpu "$NET_DIR/tofino.yaml" -- \
        /usr/bin/python3 "$NET_ROOT/tests/p4/wire_switch.py" --interfaces p0,p1,p2 --cpu-interface chip --loss "$2" \
        --chip "$1" --mac "$NET_SWITCH_MAC" --ip "$(net_switch_ip)" --state "$NET_DIR/state" >"$NET_DIR/switch.log" 2>&1 </dev/null &
    switch=$!
}

switch_stop() {
    kill -TERM "$switch"
    net_until 30 "swagg-tofino has ended" net_gone "$switch"
    wait "$switch" || fail "swagg-tofino: $(cat "$NET_DIR/switch.log")"
}

perf() { # RANK OPTION...
    net_exec "$1" "$NET_BUILD/bench/swagg-perf" --switch "$(net_switch_ip)" --rank "$@" --size 3 -f 8 -n 2 -w 0 >"$NET_DIR/perf.$1.log" 2>&1
}

perf_all() { # OPTION...
    local rank peers=()
    for rank in 1 2; do
        perf "$rank" "$@" &
        peers+=($!)
    done
    perf 0 "$@" || fail "swagg-perf $*: $(cat "$NET_DIR/perf.0.log")"
    for rank in "${peers[@]}"; do
        wait "$rank" || fail "swagg-perf $*: $(cat "$NET_DIR"/perf.*.log)"
    done
    grep -q '^# Out of bounds values : 0 OK$' "$NET_DIR/perf.0.log" || fail "swagg-perf $*: $(cat "$NET_DIR/perf.0.log")"
}

for chip in tofino tofino2; do
    rm -f "$NET_DIR/state"
    switch_start "$chip" 0.01

    step "$chip: hosts reach one another, and the switch"
    reaches 0 "$(net_ip 1)"
    reaches 1 "$(net_ip 2)"
    reaches 2 "$(net_switch_ip)"

    step "$chip: sums of integers and floats are right where one packet in a hundred is lost"
    perf_all --job integers -b 4 -e 8K --numbers int32 --type int32
    perf_all --job floats -b 4 -e 8K --numbers int32 --type float

    step "$chip: what it cannot add it refuses, and says what to do"
    perf 0 --job doubles -b 4 -e 8 --type float && fail "there should have been no job"
    expect_match "what the rank says" "$(cat "$NET_DIR/perf.0.log")" 'int32 with exponents only: set options.numbers'

    step "$chip: nothing of the jobs is left"
    net_until 60 "jobs are closed" sh -c "python3 -c 'import json; exit(len(json.load(open(\"$NET_DIR/state\"))[\"jobs\"]))'"
    switch_stop
    expect_match "what was counted" "$(tail -n 1 "$NET_DIR/switch.log")" "'send_all': [1-9].*'send_one': [1-9]"
done
