#!/usr/bin/env bash
# swagg as a plain L2 switch: what hosts send one another arrives, and only where it should.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

begin_with_swagg switching

step "every host reaches every other, and the switch"
for ((i = 0; i < 4; i++)); do
    for ((j = 0; j < 4; j++)); do
        [ "$i" -eq "$j" ] || reaches "$i" "$(net_ip "$j")"
    done
    reaches "$i" "$(net_switch_ip)"
done

step "pings of every size that fits a frame come back from host and switch"
for size in 0 1 18 100 1471 1472; do
    reaches 0 "$(net_ip 1)" -M "do" -s "$size"
    reaches 0 "$(net_switch_ip)" -M "do" -s "$size"
done

step "the switch answers ARP with its own MAC"
expect_match "arping" "$(net_exec 1 arping -c1 -w120 -I eth0 "$(net_switch_ip)")" "${NET_SWITCH_MAC^^}"

step "the MAC table names every host's port"
for ((i = 0; i < 4; i++)); do
    expect_match "the MAC table" "$(net_ctl fdb)" "$(net_mac "$i") +h$i "
done

step "a bulk transfer arrives whole: TCP with a hash at both ends, both directions at once"
net_exec 0 "$here/bulk.py" receive 5001 >"$NET_DIR/bulk0" &
net_exec 1 "$here/bulk.py" receive 5001 >"$NET_DIR/bulk1" &
net_exec 0 "$here/bulk.py" send "$(net_ip 1)" 5001 16 >"$NET_DIR/bulk0.sent" &
sender=$!
net_exec 1 "$here/bulk.py" send "$(net_ip 0)" 5001 16 >"$NET_DIR/bulk1.sent"
wait "$sender"
net_until 5 "receivers have their sums" test -s "$NET_DIR/bulk0" -a -s "$NET_DIR/bulk1"
expect_equal "hash at h1" "$(cat "$NET_DIR/bulk1")" "$(cat "$NET_DIR/bulk0.sent")"
expect_equal "hash at h0" "$(cat "$NET_DIR/bulk0")" "$(cat "$NET_DIR/bulk1.sent")"

step "broadcast and multicast go to everybody else, unicast to a known station to nobody else"
net_exec 0 "$here/flood.py" "$NET_ID"

step "a station that moves is found at its new port at once"
moved=$(net_telemetry /swagg/counters stations_moved)
ip -n "$NET_ID-h3" link set eth0 address 02:00:00:00:01:33
ip -n "$NET_ID-h2" link set eth0 address "$(net_mac 3)"
ip -n "$NET_ID-h2" addr replace "$(net_ip 3)/24" dev eth0
ip -n "$NET_ID-h3" addr flush dev eth0
net_exec 2 arping -q -U -c1 -I eth0 "$(net_ip 3)"
reaches 0 "$(net_ip 3)"
expect_match "the MAC table" "$(net_ctl fdb)" "$(net_mac 3) +h2 "
expect_equal "moves counted" "$(net_telemetry /swagg/counters stations_moved)" $((moved + 1))

step "a gratuitous ARP of a new MAC for a known address is heard by everybody"
ip -n "$NET_ID-h2" link set eth0 address 02:00:00:00:01:44
net_exec 2 arping -q -U -c1 -I eth0 "$(net_ip 3)"
net_until 2 "h0 has taken it over" sh -c "ip -n $NET_ID-h0 neigh show $(net_ip 3) | grep -q 02:00:00:00:01:44"
reaches 0 "$(net_ip 3)"

step "nothing was dropped for being damaged or for want of buffers"
for reason in runt oversize own_source bad_source no_mbuf ip_checksum udp_checksum; do
    expect_equal "$reason" "$(net_telemetry /swagg/drops $reason)" 0
done

step "a switch that comes back with another MAC says so: hosts that remember the old one take it over"
net_swagg_stop
sed -i "s/$NET_SWITCH_MAC/02:00:00:00:01:fd/" "$NET_DIR/swagg.yaml"
net_swagg_start "$NET_DIR/swagg.yaml"
net_until 5 "h0 has taken it over" sh -c "ip -n $NET_ID-h0 neigh show $(net_switch_ip) | grep -q 02:00:00:00:01:fd"
reaches 0 "$(net_switch_ip)"

step "a switch that chooses its MAC itself takes no port's, the same every time, and the kernel sees none of its packets"
net_swagg_stop
NET_SWITCH_MAC='' net_swagg_with
chosen=$(net_telemetry /swagg/status mac)
for ((i = 0; i < 4; i++)); do
    refuses grep -iqx "$chosen" <(net_telemetry "/swagg/port,h$i" mac)
done
net_swagg_stop
net_swagg_start "$NET_DIR/swagg.yaml"
expect_equal "its MAC after a restart" "$(net_telemetry /swagg/status mac)" "$chosen"
received_by_kernel() {
    # shellcheck disable=SC2016 # awk's words
    ip netns exec "$NET_ID-sw" awk '$1 == "Ip:" && $3 ~ /^[0-9]/ { print $4 }' /proc/net/snmp
}
received=$(received_by_kernel)
reaches 0 "$(net_switch_ip)"
ranks_run chosen 3 --sizes 1,365,10003 --calls 5
expect_equal "packets that the kernel took" "$(received_by_kernel)" "$received"

step "a port's own address cannot be the switch's"
net_swagg_stop
NET_SWITCH_MAC=$(ip netns exec "$NET_ID-sw" cat /sys/class/net/p2/address) net_swagg_config "$NET_DIR/port.yaml"
refuses ip netns exec "$NET_ID-sw" timeout 300 "$NET_BUILD/swagg/swagg" "$NET_DIR/port.yaml" -- --file-prefix="$NET_ID" \
    2>"$NET_DIR/refused"
expect_match "what swagg says" "$(cat "$NET_DIR/refused")" "switch.mac is the address of port h2's own interface"
net_swagg_start "$NET_DIR/swagg.yaml"

step "SIGTERM ends it cleanly, and what it said names no error"
net_swagg_stop
refuses grep -i error "$NET_DIR/swagg.log"
