#!/usr/bin/env bash
# Ports on kernel interfaces receive frames as they would be on a wire, whatever the kernel has left out of them.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

here=$(dirname "${BASH_SOURCE[0]}")

begin_with_swagg kernel_rx
settings=$NET_DIR/swagg.yaml

offloads() { # HOST SETTING...
    ip netns exec "$NET_ID-h$1" ethtool -K eth0 "${@:2}" >/dev/null
}

transfer() { # FROM TO [IPERF OPTION...]
    ip netns exec "$NET_ID-h$2" timeout 20 iperf3 -s -1 >"$NET_DIR/iperf.log" 2>&1 &
    net_until 5 "iperf3 listens" sh -c "ip netns exec $NET_ID-h$2 ss -ltn | grep -q :5201"
    net_exec "$1" timeout 10 iperf3 -c "$(net_ip "$2")" "${@:3}" >"$NET_DIR/transfer.log" 2>&1
}

sent_by_host() { # FIELD
    ip -n "$NET_ID-h0" -j -s link show dev eth0 | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['stats64']['tx']['$1'])"
}

all_are_there() {
    [ "$(sent_by_host packets)" = "$(net_telemetry /swagg/port,h0 rx_frames)" ] &&
        [ "$(sent_by_host bytes)" = "$(net_telemetry /swagg/port,h0 rx_bytes)" ]
}

step "checksums that hosts leave to their devices are computed"
for host in 0 1 2 3; do
    offloads "$host" tx on tso off gso off tx-udp-segmentation off
done
ranks_run unfinished 4 --sizes 1,365,366,100003 --calls 20
transfer 0 1 -n 4M || fail "TCP: $(cat "$NET_DIR/transfer.log")"
transfer 0 1 -u -b 20M -n 2M || fail "UDP: $(cat "$NET_DIR/transfer.log")"
expect_equal "datagrams with a wrong checksum at the receiver" \
    "$(ip netns exec "$NET_ID-h1" nstat -az UdpInCsumErrors | awk '/UdpInCsumErrors/ { print $2 }')" 0
expect_equal "dropped as udp_checksum" "$(net_telemetry /swagg/drops udp_checksum)" 0

step "all that the host has sent is counted"
net_until 5 "as many frames and bytes have come as the host has sent" all_are_there

step "frames keep their VLAN tags, also if they look like gradient packets"
for tag in 8100a005 88a80006; do
    ip netns exec "$NET_ID-h1" "$here/tagged.py" receive 10 >"$NET_DIR/tagged.log" 2>&1 &
    listener=$!
    net_until 5 "the listener listens" grep -q listens "$NET_DIR/tagged.log"
    net_exec 0 "$here/tagged.py" send "$(net_mac 1)" "$tag"
    net_until 10 "the listener has heard a frame" net_gone "$listener"
    expect_equal "tag that arrives" "$(tail -n 1 "$NET_DIR/tagged.log")" "$tag"
done

step "what a host leaves unsegmented is dropped by name"
offloads 2 tso on gso on tx-udp-segmentation on
transfer 2 3 -t 1 || true # hardly anything arrives
before=$(net_telemetry /swagg/drops oversize)
[ "$before" -gt 0 ] || fail "nothing was dropped as oversize"
# Two datagrams in one, which is shorter than the MTU (UDP_SEGMENT).
net_exec 2 python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 103, 100)
s.sendto(bytes(200), (sys.argv[1], 9))' "$(net_ip 3)"
net_until 5 "it is dropped, too" sh -c "[ \"\$('$NET_LIB/telemetry.py' '$NET_ID' /swagg/drops oversize)\" -gt $before ]"
offloads 2 tso off gso off tx-udp-segmentation off
reaches 2 "$(net_ip 3)" -s 1472

step "an interface that was down works when it is up again"
ip -n "$NET_ID-sw" link set p0 down
net_until 5 "the switch has noticed" grep -q "port h0: link is down" "$NET_DIR/swagg.log"
ip -n "$NET_ID-sw" link set p0 up
net_until 5 "host 0 reaches host 1" ip netns exec "$NET_ID-h0" ping -q -c1 -W1 "$(net_ip 1)"
ranks_run again 4 --sizes 100003
net_swagg_stop

step "an interface that merges frames is warned of"
ip netns exec "$NET_ID-sw" ethtool -K p2 gro on
net_swagg_start "$settings"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" 'port h2: interface p2 merges .*ethtool -K p2 gro off'
expect_equal "warnings" "$(grep -c merges "$NET_DIR/swagg.log")" 1
net_swagg_stop

step "an interface whose MTU is too small is refused, and it is said how to mend it"
ip -n "$NET_ID-sw" link set p1 mtu 1400
status=0
words=$(ip netns exec "$NET_ID-sw" timeout 20 "$NET_BUILD/swagg/swagg" "$settings" -- --file-prefix="$NET_ID" 2>&1) || status=$?
expect_equal "exit status after: $words" "$status" 1
expect_match "what swagg says" "$words" 'port h1: interface p1 has MTU 1400, .*ip link set p1 mtu 1500'
