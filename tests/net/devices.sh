#!/usr/bin/env bash
# Switching and sums over each way to a kernel interface, but for net_af_xdp, which stalls now and then
# (docs/configuration.md).
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin devices
net_hosts 4
for device in kernel net_af_packet net_pcap; do
    step "$device"
    NET_DEVICE=$device net_swagg_with
    reaches 0 "$(net_ip 1)"
    reaches 3 "$(net_switch_ip)" -s 1472
    [ "$device" = net_af_packet ] || reaches 1 "$(net_ip 2)" -s 4000 # fragments are frames like others
    ranks_run devices 4 --sizes 1,365,366,100003 --calls 40
    net_swagg_stop
done

# Becomes swagg where /sys is as of a machine whose ports p0 and p1 are on NUMA nodes of their own, without CPUs. Only it sees that.
on_other_nodes() { # SWAGG'S ARGUMENT...
    # shellcheck disable=SC2016 # for the inner shell
    exec ip netns exec "$NET_ID-sw" unshare --mount sh -ec '
        mount -t tmpfs nodes /sys/devices/system/node
        for at in p0/7 p1/3; do
            mount -t tmpfs nic "$(readlink -f "/sys/class/net/${at%/*}")"
            mkdir "/sys/class/net/${at%/*}/device"
            echo "${at#*/}" >"/sys/class/net/${at%/*}/device/numa_node"
        done
        exec "$@"' sh "$NET_BUILD/swagg/swagg" "$@"
}

step "ports on other NUMA nodes than the CPUs: the log says so; each node has packet buffers of its own, and sums are exact"
net_swagg_config "$NET_DIR/swagg.yaml"
expect_end 0 'ports are on 2 NUMA nodes' on_other_nodes --check "$NET_DIR/swagg.yaml"
net_background "$NET_DIR/swagg.log" on_other_nodes "$NET_DIR/swagg.yaml" -- --file-prefix="$NET_ID"
NET_SWAGG_PID=$!
net_until 20 "swagg is ready" net_swagg_ready_or_gone
words=$(<"$NET_DIR/swagg.log")
expect_match "the log" "$words" 'CPU [0-9]+ polls port h0 across NUMA nodes.* node 7;'
expect_match "the log" "$words" '([0-9]+) packet buffers for the ports of NUMA node 7.* ([0-9]+) packet buffers for the ports of NUMA node 3'
expect_equal "packet buffers of both" "$(net_telemetry /swagg/memory mbufs)" $((BASH_REMATCH[1] + BASH_REMATCH[2] - 2)) # one fewer of each
ranks_run nodes 4 --sizes 1,365,366,100003 --calls 40
net_swagg_stop

# The hosts' ends of its devices take the place of the veths.
host_takes_tap() { # HOST
    ip -n "$NET_ID-sw" link set "p$1" netns "$NET_ID-h$1"
    ip -n "$NET_ID-h$1" link set "p$1" address "$(net_mac "$1")" name eth0 up
    ip -n "$NET_ID-h$1" address add "$(net_ip "$1")/24" dev eth0
}

step "net_tap: it compares checksums; what is damaged after that is noticed all the same"
for host in 0 1 2 3; do
    ip -n "$NET_ID-h$host" link delete eth0
done
NET_DEVICE=net_tap NET_IMPAIR='{rx: {corrupt: 0.02}}' net_swagg_config "$NET_DIR/swagg.yaml"
sed -i '/name: h3/d' "$NET_DIR/swagg.yaml"
expect_end 0 '[|] h2 [|] net_tap' timeout 300 ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" --probe "$NET_DIR/swagg.yaml" -- \
    --file-prefix="$NET_ID" --no-huge -m 512 # memory of the operator's own
net_swagg_start "$NET_DIR/swagg.yaml"
for host in 0 1 2; do
    host_takes_tap "$host"
done
expect_equal "UDP checksums are the device's" "$(net_telemetry /swagg/port,h0 compares_udp_checksum)" 1
ranks_run taps 3 --sizes 1,365,366,100003 --calls 40
[ "$(net_telemetry /swagg/drops udp_checksum)" -gt 0 ] || fail "no damage was noticed"

step "a port of DPDK's is added while the switch runs, used, removed, and added again"
for time in first second; do
    net_ctl port add h3 "$(net_device net_tap 3)"
    host_takes_tap 3
    reaches 3 "$(net_switch_ip)"
    ranks_run "$time" 4 --sizes 1,365,366,100003 --calls 40
    net_ctl port del h3
    [[ $(net_ctl ports) != *h3* ]] || fail "port h3 is still there"
    net_until 30 "its device has gone" not ip -n "$NET_ID-h3" link show eth0
done
reaches 0 "$(net_ip 1)"
net_swagg_stop

# As its administrator, of one interface and no other machine's.
swagg_of_a_user() { # CONFIGURATION
    exec unshare --map-root-user --net sh -c 'ip link add p0 type veth peer name h0 && ip link set p0 up && ip link set h0 up && exec "$@"' sh \
        "$NET_BUILD/swagg/swagg" "$1" -- --file-prefix="$NET_ID-user" >"$NET_DIR/user.log" 2>&1 </dev/null
}

step "in a user namespace, as containers of ordinary users have one: its sockets get the buffers that the machine lets everybody have"
NET_HOSTS=1 net_swagg_config "$NET_DIR/user.yaml"
swagg_of_a_user "$NET_DIR/user.yaml" &
user=$!
NET_AT_END="end_user"
end_user() {
    kill "$user"
}
user_is_ready_or_gone() {
    grep -q 'ready:' "$NET_DIR/user.log" || net_gone "$user"
}
net_until 20 "swagg is ready" user_is_ready_or_gone
grep -q 'ready:' "$NET_DIR/user.log" || fail "swagg does not start: $(cat "$NET_DIR/user.log")"
