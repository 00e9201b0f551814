#!/usr/bin/env bash
# A bump in the wire: swagg between two ordinary switches (Linux bridges), each with two hosts. Everybody's traffic passes, jobs have
# ranks on both sides; what a cable would do with others' frames, and what it would not.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

in_switch() {
    ip netns exec "$NET_ID-sw" "$@"
}

second_cable() {
    net_cable second dnoces 9000
    ip -n "$NET_ID-sw" link set second master lbr
    ip -n "$NET_ID-sw" link set dnoces master rbr
}

root_of() { # BRIDGE
    in_switch cat "/sys/class/net/$1/bridge/root_id"
}

net_begin bump
net_hosts 4
net_cable left lside 9000
net_cable right rside 9000
net_bridge_of lbr p0 p1 lside
net_bridge_of rbr p2 p3 rside
cp "$NET_ROOT/conf/bump.yaml" "$NET_DIR/bump.yaml"
printf '%s\n' "${NET_SETTINGS[@]}" >>"$NET_DIR/bump.yaml"
net_swagg_start "$NET_DIR/bump.yaml"

step "every host reaches every other, and the switch"
for ((i = 0; i < 4; i++)); do
    reaches "$i" "$(net_ip $(((i + 2) % 4)))" -s 1472 -M "do"
    reaches "$i" "$(net_switch_ip)"
done

step "a job with ranks on both sides, while TCP passes"
transfer 0 3 -t 1 &
tcp=$!
ranks_run both 4 --sizes 1,365,100003 --calls 20
wait "$tcp"

step "frames between neighbours pass, but for pause frames"
expect_equal "those that pass" "$(in_switch "$here/link_local.py" lside rside)" 023456789abcdef
expect_equal "dropped" "$(net_telemetry /swagg/drops link_local)" 1

step "VLAN tags pass as they are, one or two"
for tag in 8100e00a 88a80014 81000001; do
    tag_arrives 2 "$tag"
done

step "a frame that is longer than the MTU is dropped by name"
for device in h0:eth0 sw:p0 h2:eth0 sw:p2 sw:lbr sw:rbr; do
    ip -n "$NET_ID-${device%:*}" link set "${device#*:}" mtu 9000
done
oversize=$(net_telemetry /swagg/drops oversize)
refuses net_exec 0 ping -q -c1 -W1 -M "do" -s 3000 "$(net_ip 2)"
net_until 5 "it is counted" prints -gt "$oversize" net_telemetry /swagg/drops oversize

step "a storm is held down: what is more than configured is dropped by name"
net_exec 0 "$here/storm.py" eth0 20000
net_until 5 "storm_broadcast" prints -gt 0 net_telemetry /swagg/drops storm_broadcast
expect_equal "others" "$(net_telemetry /swagg/drops storm_unknown)" 0
reaches 1 "$(net_ip 3)"

step "spanning tree sees through it: both switches agree on a root, and a second cable between them is blocked"
for br in lbr rbr; do
    ip -n "$NET_ID-sw" link set "$br" type bridge stp_state 1 forward_delay 200 hello_time 100 max_age 4000 # in 1/100 s
done
agree() { [ "$(root_of lbr)" = "$(root_of rbr)" ]; }
net_until 60 "they agree" agree
second_cable
blocked() { in_switch bridge link | grep -q 'state blocking'; }
net_until 60 "a port is blocked" blocked
net_until 60 "h0 reaches h2" net_exec 0 ping -q -c1 -W5 "$(net_ip 2)"
expect_equal "loops" "$(net_telemetry /swagg/counters loops_found)" 0

step "without spanning tree the second cable makes a loop: it is found, logged, and a port is blocked"
ip -n "$NET_ID-sw" link del second
for br in lbr rbr; do
    ip -n "$NET_ID-sw" link set "$br" type bridge stp_state 0
    ip -n "$NET_ID-sw" link set "$br" type bridge forward_delay 0
done
second_cable
net_exec 0 arping -q -c1 -w1 -I eth0 10.77.0.77 || true # nobody's: the request goes round
net_until 60 "a port is blocked" grep -q 'port right: a loop' "$NET_DIR/swagg.log"
expect_match "ports" "$(net_ctl ports)" "right +kernel:right +blocked"
[ "$(net_telemetry /swagg/counters loops_found)" -ge 1 ] || fail "loops_found counts nothing"

step "the cable is taken out, and the port opened again"
ip -n "$NET_ID-sw" link del second
net_ctl port up right
for i in 0 2; do
    ip -n "$NET_ID-h$i" neigh flush dev eth0
done
reaches 0 "$(net_ip 2)"
ranks_run again 4 --sizes 365,10003 --calls 5
expect_match "ports" "$(net_ctl ports)" "right +kernel:right +up"

net_swagg_stop
