#!/usr/bin/env bash
# swagg beside a bridge of the kernel's (conf/beside-bridge.yaml), which is also a dedicated aggregator beside an ordinary switch: reached by
# its IP address, also by hosts behind a router; others' traffic does not come to it; several jobs; and the router's MAC address changes while
# a job runs. Frames are jumbo frames where the way allows.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

port_frames() {
    net_telemetry /swagg/port,bridge rx_frames
}

net_begin box
net_hosts 3 9000
net_bridge_with_cable 9000
# h3 and h4 are behind a router, r, whose other leg is in the bridge.
net_add_namespaces r
ip link add outer netns "$NET_ID-r" mtu 9000 type veth peer name p3 netns "$NET_ID-sw" mtu 9000
net_real_frames "$NET_ID-r" outer
net_real_frames "$NET_ID-sw" p3
ip -n "$NET_ID-sw" link set p3 up master br0
ip -n "$NET_ID-r" addr add 10.77.0.200/24 dev outer
ip -n "$NET_ID-r" link set outer up
ip netns exec "$NET_ID-r" sysctl -qw net.ipv4.ip_forward=1
for i in 3 4; do
    net_add_namespaces "h$i"
    ip link add eth0 netns "$NET_ID-h$i" type veth peer name "inner$i" netns "$NET_ID-r"
    net_real_frames "$NET_ID-h$i" eth0
    net_real_frames "$NET_ID-r" "inner$i"
    ip -n "$NET_ID-h$i" addr add "10.78.$i.2/24" dev eth0
    ip -n "$NET_ID-r" addr add "10.78.$i.1/24" dev "inner$i"
    ip -n "$NET_ID-h$i" link set eth0 up
    ip -n "$NET_ID-r" link set "inner$i" up
    ip -n "$NET_ID-h$i" route add default via "10.78.$i.1"
done
NET_HOSTS=5

net_swagg_beside 9000

step "every host reaches the box, also through the router"
for i in 0 1 2 3 4; do
    reaches "$i" "$(net_switch_ip)"
done

step "what hosts send one another passes the bridge alone"
before=$(port_frames)
transfer 0 1 -n 20M # more than 2,000 frames
[ "$(port_frames)" -lt $((before + 500)) ] || fail "$(($(port_frames) - before)) frames came to the box"

step "two jobs at once: one on the bridge, with jumbo frames, one with ranks behind the router"
NET_HOSTS=3
ranks_start near 3 --sizes 1,2240,100003 --calls 100 --seed 6
ranks_aside near
NET_HOSTS=5
ranks_run routed 5 --sizes 1,365,100003 --calls 40 --seed 7
ranks_back
ranks_succeed 60
grep -q '8960 bytes a packet' "$NET_DIR/near0.log" || fail "no jumbo frames: $(cat "$NET_DIR/near0.log")"
grep -q '1460 bytes a packet' "$NET_DIR/rank0.log" || fail "not as long as the way allows: $(rank_log 0)"
expect_equal "packets from another MAC" "$(net_telemetry /swagg/drops sml_foreign_mac)" 0

step "the router's MAC address changes in the middle of a job, which goes on"
ranks_start moved 5 --sizes 10003 --calls 1000000
for rank in 0 3; do
    rank_says 60 "$rank" "rank $rank: open"
done
sums_go_on 1000
ip -n "$NET_ID-r" link set outer address 02:00:00:00:0f:99
for rank in 3 4; do
    net_until 60 "rank $rank is followed" grep -q "rank $rank speaks from MAC address 02:00:00:00:0f:99 now" "$NET_DIR/swagg.log"
done
sums_go_on 1000
for rank in 0 1 2 3 4; do
    kill "${RANK_PID[rank]}" || fail "rank $rank has ended: $(rank_log "$rank")" # a wrong sum, or an error, would have ended it
done
ranks_wait 60

net_swagg_stop
