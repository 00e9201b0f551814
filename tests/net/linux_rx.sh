#!/usr/bin/env bash
# Ports on kernel interfaces receive frames as they would be on a wire, whatever the kernel has left out of them.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg linux_rx
settings=$NET_DIR/swagg.yaml

offloads() { # HOST SETTING...
    ip netns exec "$NET_ID-h$1" ethtool -K eth0 "${@:2}" >/dev/null
}

sent_by_host() { # FIELD
    ip -n "$NET_ID-h0" -j -s link show dev eth0 | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['stats64']['tx']['$1'])"
}

feature() { # INTERFACE NAME
    ip netns exec "$NET_ID-sw" ethtool -k "$1" | sed -n "s/^$2: \\(on\\|off\\).*/\\1/p"
}

tunnel() { # HOST PEER
    net_exec "$1" ip link add vx0 mtu 1400 type vxlan id 5 local "$(net_ip "$1")" remote "$(net_ip "$2")" dstport 4789
    net_exec "$1" ip addr add "192.0.2.$1/24" dev vx0
    net_exec "$1" ip link set vx0 up
}

cannot_cut() { # HOW OFTEN the switch has said so of host 2's interface
    [ "$(grep -c "port h2: interface p2 merges frames of a kind that swagg cannot cut" "$NET_DIR/swagg.log")" = "$1" ]
}

# Segments in a tunnel from host 2 to host 3, of which hardly any arrive, until the switch has said so once more.
refuse_tunnel() { # HOW OFTEN it has then
    local server sender
    reaches 2 192.0.2.3 # iperf3 tries once
    net_iperf_server 3
    server=$!
    ip netns exec "$NET_ID-h2" timeout 300 iperf3 -c 192.0.2.3 -t 300 >"$NET_DIR/transfer.log" 2>&1 &
    sender=$!
    net_until 5 "it is said" cannot_cut "$1"
    kill "$sender" "$server" || true # which may have ended
    net_until 10 "the sender has ended" net_gone "$sender"
    net_until 10 "the server has ended" net_gone "$server"
}

frames_from() { # HOST
    net_telemetry "/swagg/port,h$1" rx_frames
}

# A veth whose peer merges counts bytes without the Ethernet header.
all_are_there() {
    local frames bytes
    frames=$(frames_from 0)
    bytes=$(net_telemetry /swagg/port,h0 rx_bytes)
    [ "$(sent_by_host packets)" = "$frames" ] && [ "$(sent_by_host bytes)" = $((bytes - 14 * frames)) ]
}

step "checksums that hosts leave to their devices are computed"
for host in 0 1 2 3; do
    offloads "$host" tx on tso off gso off tx-udp-segmentation off
done
ranks_run unfinished 4 --sizes 1,365,366,100003 --calls 20
transfer 0 1 -n 4M
transfer 0 1 -u -b 20M -n 2M
expect_equal "datagrams with a wrong checksum at the receiver" \
    "$(ip netns exec "$NET_ID-h1" nstat -az UdpInCsumErrors | awk '/UdpInCsumErrors/ { print $2 }')" 0
expect_equal "dropped as udp_checksum" "$(net_telemetry /swagg/drops udp_checksum)" 0

step "all that the host has sent is counted"
net_until 5 "as many frames and bytes have come as the host has sent" all_are_there

step "frames keep their VLAN tags, also if they look like gradient packets"
for tag in 8100a005 88a80006; do
    tag_arrives 1 "$tag"
done

step "the kernel merges what comes in, and it is cut again"
for feature in generic-receive-offload rx-udp-gro-forwarding; do
    expect_equal "$feature" "$(feature p0 $feature)" on
done
before=$(frames_from 0)
ranks_run merged 4 --sizes 1000003 --calls 3
transfer 0 1 -n 20M
net_until 5 "as many frames and bytes have come as the host has sent" all_are_there
[ $(($(frames_from 0) - before)) -gt 20000 ] || fail "only $(($(frames_from 0) - before)) frames"
merged=$(net_telemetry /swagg/port,h0 rx_merged)
[ "$merged" -gt 10000 ] || fail "only $merged frames have come merged"
expect_equal "dropped as oversize" "$(net_telemetry /swagg/drops oversize)" 0

step "hosts may merge what they receive"
for host in 0 1 2; do # and one that does not
    offloads "$host" gro on
done
ranks_run merging 4 --sizes 1,366,300003 --calls 10
ranks_run merging-crc 4 --sizes 366,100003 --checksum crc32c

step "a capture at such hosts has runs and no checksums: swagg-pcap understands both"
captures_start
ranks_run captured 4 --sizes 366,100003,300007
captures_check
expect_match "what check says" "$said" "captured before a device: [1-9][0-9]* packets in one frame with others, [1-9]"
for host in 0 1 2; do
    offloads "$host" gro off
done

step "what a host leaves unsegmented is cut into frames"
offloads 2 tso on gso on tx-udp-segmentation on
transfer 2 3 -n 20M
ranks_run unsegmented 4 --sizes 300003
# Two datagrams in one, which is shorter than the MTU (UDP_SEGMENT).
net_exec 3 timeout 300 python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9009))
print("listens", flush=True)
print([len(s.recv(2000)) for _ in range(2)])' >"$NET_DIR/datagrams.log" &
listener=$!
net_until 5 "the listener listens" grep -q listens "$NET_DIR/datagrams.log"
net_exec 2 python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 103, 100)
s.sendto(bytes(170), (sys.argv[1], 9009))' "$(net_ip 3)"
net_until 10 "two datagrams have come" net_gone "$listener"
expect_equal "datagrams" "$(tail -n 1 "$NET_DIR/datagrams.log")" "[100, 70]"
expect_equal "dropped as oversize" "$(net_telemetry /swagg/drops oversize)" 0

step "what cannot be cut is dropped by name, and nothing more is merged"
tunnel 2 3
tunnel 3 2
refuse_tunnel 1
[ "$(net_telemetry /swagg/drops oversize)" -gt 0 ] || fail "nothing was dropped as oversize"
expect_equal "merging of p2" "$(feature p2 generic-receive-offload)" off
expect_equal "merging of p3" "$(feature p3 generic-receive-offload)" on
offloads 2 tso off gso off tx-udp-segmentation off
ranks_run whole 4 --sizes 100003
reaches 2 "$(net_ip 3)" -s 1472

step "an interface that was down works when it is up again"
ip -n "$NET_ID-sw" link set p0 down
net_until 5 "the switch has noticed" grep -q "port h0: link is down" "$NET_DIR/swagg.log"
ip -n "$NET_ID-sw" link set p0 up
net_until 5 "host 0 reaches host 1" ip netns exec "$NET_ID-h0" ping -q -c1 -W1 "$(net_ip 1)"
ranks_run again 4 --sizes 100003


frames_are_dropped() { # REASON: that host 1 sends to host 0
    net_exec 1 ping -q -c1 -W1 "$(net_ip 0)" || true
    [ "$(net_telemetry /swagg/drops,h0 "$1")" -gt 0 ]
}

step "an interface that is deleted and made again is used again"
net_exec 1 ip neigh replace "$(net_ip 0)" lladdr "$(net_mac 0)" dev eth0
ip -n "$NET_ID-sw" link del p0
net_until 30 "the switch says so" grep -q "port h0: interface p0 is gone" "$NET_DIR/swagg.log"
net_until 30 "telemetry says so" prints -eq 1 net_telemetry /swagg/port,h0 gone
expect_equal "link" "$(net_telemetry /swagg/port,h0 link_up)" 0
net_until 30 "what is sent to it is dropped by name" frames_are_dropped tx_down
reaches 1 "$(net_switch_ip)"
net_link 0
net_until 30 "telemetry says that it is back" prints -eq 0 net_telemetry /swagg/port,h0 gone
net_until 30 "host 0 reaches the switch" net_exec 0 ping -q -c1 -W1 "$(net_switch_ip)"
net_exec 1 ip neigh del "$(net_ip 0)" dev eth0
ranks_run remade 4 --sizes 1,100003
expect_equal "returns" "$(net_telemetry /swagg/port,h0 returns)" 1
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" on

step "one that has come back merges until something cannot be cut, also if that was so before"
ip -n "$NET_ID-sw" link del p2
net_until 30 "the switch says so" grep -q "port h2: interface p2 is gone" "$NET_DIR/swagg.log"
net_link 2
net_until 30 "the switch has it back" grep -q "port h2: interface p2 has come back" "$NET_DIR/swagg.log"
expect_equal "merging of p2" "$(feature p2 generic-receive-offload)" on
offloads 2 tx on tso on gso on tx-udp-segmentation on
refuse_tunnel 2
expect_equal "merging of p2" "$(feature p2 generic-receive-offload)" off
offloads 2 tso off gso off tx-udp-segmentation off
ranks_run whole-again 4 --sizes 100003

step "one that has come back and cannot be used is refused once, and used when it is mended"
ip -n "$NET_ID-sw" link del p0
net_link 0 1400
net_until 30 "the switch says so" grep -q "port h0: interface p0 has MTU 1400, .*ip link set p0 mtu 1500" "$NET_DIR/swagg.log"
ip -n "$NET_ID-sw" link set p0 mtu 1500
net_until 30 "telemetry says that it is back" prints -eq 0 net_telemetry /swagg/port,h0 gone
net_until 30 "host 0 reaches the switch" net_exec 0 ping -q -c1 -W1 "$(net_switch_ip)"
expect_equal "times that it was refused" "$(grep -c "interface p0 has MTU" "$NET_DIR/swagg.log")" 1

step "one that is given another name stays the port's"
ip -n "$NET_ID-sw" link set p0 name q0
reaches 0 "$(net_switch_ip)"
expect_equal "link" "$(net_telemetry /swagg/port,h0 link_up)" 1
ip -n "$NET_ID-sw" link set q0 name p0

too_long_is_dropped() { # REASON BEFORE: that host 2 sends to host 1
    net_exec 2 ping -q -c1 -W1 -s 1472 "$(net_ip 1)" || true
    [ "$(net_telemetry /swagg/drops,h1 "$1")" -gt "$2" ]
}

step "one whose MTU is lowered meanwhile drops longer frames by name"
full=$(net_telemetry /swagg/drops,h1 tx_full)
ip -n "$NET_ID-sw" link set p1 mtu 1400
net_until 30 "they are oversize" too_long_is_dropped oversize "$(net_telemetry /swagg/drops,h1 oversize)"
expect_equal "tx_full" "$(net_telemetry /swagg/drops,h1 tx_full)" "$full"
ip -n "$NET_ID-sw" link set p1 mtu 1500
net_until 30 "longer frames pass again" net_exec 2 ping -q -c1 -W1 -s 1472 "$(net_ip 1)"
net_swagg_stop

step "an interface merges afterwards what it has merged before"
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" off
ip netns exec "$NET_ID-sw" ethtool -K p2 gro on
net_swagg_start "$settings"
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" on
net_swagg_stop
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" off
expect_equal "merging of p2" "$(feature p2 generic-receive-offload)" on

step "also if it was killed: the next one sees to that, whatever its own ports are"
net_swagg_start "$settings"
net_swagg_kill
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" on
printf 'ports: [{device: "kernel:p1"}]\nmemory: {mode: no-huge}\n' >"$NET_DIR/other.yaml"
net_swagg_start "$NET_DIR/other.yaml"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "interface p0 was left merging frames"
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" off
expect_equal "merging of p2" "$(feature p2 generic-receive-offload)" on
net_swagg_stop
expect_equal "merging of p1" "$(feature p1 generic-receive-offload)" off
ip netns exec "$NET_ID-sw" ethtool -K p2 gro off

step "who cannot know which swaggs run leaves their interfaces as they are"
net_swagg_start "$settings"
ip -n "$NET_ID-sw" link add own type veth peer name own_too
printf 'ports: [{device: "kernel:own"}]\nmemory: {mode: no-huge}\ncontrol: {path: none}\n' >"$NET_DIR/own.yaml"
ip -n "$NET_ID-sw" link set own up
install -m 0 /dev/null "$NET_DIR/interfaces" # nobody but who is above modes may open it
# shellcheck disable=SC2016 # for the inner shell
net_background "$NET_DIR/own.log" ip netns exec "$NET_ID-sw" unshare --mount sh -c 'mount --bind "$0" /run/swagg/interfaces && exec "$@"' \
    "$NET_DIR/interfaces" setpriv --inh-caps=-all --bounding-set=-all,+net_raw,+net_admin \
    "$NET_BUILD/swagg/swagg" "$NET_DIR/own.yaml" -- --file-prefix="$NET_ID-own"
own=$!
net_until 120 "it is ready" grep -q ' ready: ' "$NET_DIR/own.log"
expect_match "the log" "$(cat "$NET_DIR/own.log")" "no locks in /run/swagg/interfaces: Permission denied"
expect_equal "merging of p0" "$(feature p0 generic-receive-offload)" on
kill -TERM "$own"
wait "$own"
ip -n "$NET_ID-sw" link del own
net_swagg_stop

step "a killed one's record of a network namespace goes with the namespace"
records() { # of interface 77
    find /run/swagg -name "merging-*-77" -exec grep -lx "namespace $elsewhere" {} +
}
sees_all_processes() { # a sandbox may hide in which namespaces some are; then a record stays, to be safe
    local process
    for process in /proc/[0-9]*; do
        readlink "$process/ns/net" >/dev/null || [ ! -d "$process" ] || return
    done
}
starts_anew() {
    net_swagg_start "$NET_DIR/other.yaml"
    net_swagg_stop
}
net_add_namespaces else
elsewhere=$(ip netns exec "$NET_ID-else" stat -L -c %i /proc/self/ns/net)
ip link add away index 77 netns "$NET_ID-else" type veth peer name away_too netns "$NET_ID-else"
ip -n "$NET_ID-else" link set away up
printf 'ports: [{device: "kernel:away"}]\nmemory: {mode: no-huge}\n' >"$NET_DIR/else.yaml"
ip netns exec "$NET_ID-else" "$NET_BUILD/swagg/swagg" "$NET_DIR/else.yaml" -- --file-prefix="$NET_ID-else" >"$NET_DIR/else.log" 2>&1 </dev/null &
away=$!
net_until 20 "it is ready" grep -q ready: "$NET_DIR/else.log"
kill -KILL "$away"
net_until 20 "it is gone" net_gone "$away"
expect_equal "records" "$(records | wc -l)" 1
starts_anew
expect_equal "records while the namespace is there" "$(records | wc -l)" 1
rm -f "/run/swagg/$NET_ID-else.ctl"
ip netns delete "$NET_ID-else"
starts_anew
if sees_all_processes; then
    expect_equal "records once it is gone" "$(records | wc -l)" 0
else
    echo "  not checked: some processes here do not let root see their network namespace"
    records | xargs -r rm -f
fi

step "an interface whose MTU is too small is refused, and it is said how to mend it"
ip -n "$NET_ID-sw" link set p1 mtu 1400
expect_end 1 'port h1: interface p1 has MTU 1400, .*ip link set p1 mtu 1500' \
    ip netns exec "$NET_ID-sw" timeout 300 "$NET_BUILD/swagg/swagg" "$settings" -- --file-prefix="$NET_ID"
