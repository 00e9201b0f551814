#!/usr/bin/env bash
# VLANs: two switches with a trunk between them, each with a host in VLAN 10 and one in VLAN 20. Two jobs of one name run at once, one in
# each VLAN, over both switches; nobody hears of the other VLAN.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

# The second switch has no address: it only switches.
end_second() {
    [ -z "${second:-}" ] || kill "$second" 2>/dev/null || true
}

net_begin vlans
NET_AT_END=end_second
net_hosts 6
ip -n "$NET_ID-sw" link add uplink type veth peer name downlink
for device in uplink downlink; do
    net_real_frames "$NET_ID-sw" "$device"
    ip -n "$NET_ID-sw" link set "$device" up promisc on
done
# conf/vlans.yaml has h0 and h1 in VLAN 10, h2 and h3 in VLAN 20; h4 and h5 are on the second switch.
{
    cat "$NET_ROOT/conf/vlans.yaml"
    printf '%s\n' "${NET_SETTINGS[@]}"
} >"$NET_DIR/vlans.yaml"
cat >"$NET_DIR/second.yaml" <<END
ports:
  - {name: h4, device: "kernel:p4", vlan: 10}
  - {name: h5, device: "kernel:p5", vlan: 20}
  - {name: down, device: "kernel:downlink", trunk: [10, 20]}
memory: {mode: no-huge}
END
net_swagg_start "$NET_DIR/vlans.yaml"
ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" "$NET_DIR/second.yaml" -- --file-prefix="$NET_ID-2" >"$NET_DIR/second.log" 2>&1 </dev/null &
second=$!
net_until 20 "the second switch is ready" grep -q ready: "$NET_DIR/second.log"

step "hosts of a VLAN reach one another, over the trunk, and the switch's address there; nobody else"
reaches 0 "$(net_ip 1)"
reaches 0 "$(net_ip 4)" -s 1472 -M "do"
reaches 2 "$(net_ip 5)"
reaches 4 10.77.0.254
reaches 5 10.77.0.253
net_exec 3 "$here/storm.py" eth0 100 # in VLAN 20: the answer to what follows comes behind it
reaches 3 "$(net_ip 5)"
for host in 0 1 4; do
    expect_equal "what h$host knows of h3" "$(ip -n "$NET_ID-h$host" neigh show to "$(net_ip 3)")" ""
done
stations() { # VLAN: hosts' numbers
    net_ctl --json fdb | python3 -c 'import json, sys
print(*sorted(s["mac"][-2:] for s in json.load(sys.stdin)["fdb"] if s["mac"].startswith("02:00:00:00:01:") and s["vlan"] == int(sys.argv[1])))' "$1"
}
expect_equal "hosts of VLAN 10" "$(stations 10)" "01 02 05"
expect_equal "hosts of VLAN 20" "$(stations 20)" "03 04 06"

step "an address of another VLAN is not the switch's"
refuses net_exec 0 ping -q -c1 -W1 10.77.0.253
refuses net_exec 3 ping -q -c1 -W1 10.77.0.254

step "a job in each VLAN, of the same name, at the same time"
ranks() { # SWITCH HOST...
    local switch=$1 rank host
    shift
    for rank in 0 1 2; do
        host=$((${*:rank+1:1}))
        net_background "$NET_DIR/rank$switch-$rank.log" ip netns exec "$NET_ID-h$host" "$COLLECTIVES" --switch "$switch" --job train \
            --rank "$rank" --size 3 --sizes 1,365,100003 --calls 40 --answer-timeout 300000 --join-timeout 300000 --call-timeout 300000
        RANK_PID+=($!)
    done
}
RANK_PID=()
ranks 10.77.0.254 0 1 4
ranks 10.77.0.253 2 3 5
ranks_succeed 120
expect_equal "jobs that were" "$(grep -c 'job train: ready: 3 ranks' "$NET_DIR/swagg.log")" 2

step "the operator sees where a job is"
ip netns exec "$NET_ID-h3" "$COLLECTIVES" --switch 10.77.0.253 --job alone --rank 0 --size 2 --answer-timeout 300000 --join-timeout 300000 >"$NET_DIR/alone.log" 2>&1 </dev/null &
shown() { [ "$(net_telemetry /swagg/job,alone vlan)" = 20 ]; }
net_until 60 "it is shown in VLAN 20" shown
expect_match "jobs" "$(net_ctl jobs)" "alone +forming .* 20"
kill $!

step "frames that a port does not carry are dropped by name"
net_exec 0 "$here/tagged.py" send ff:ff:ff:ff:ff:ff 81000014
net_until 5 "vlan_not_carried" prints -eq 1 net_telemetry /swagg/drops vlan_not_carried
net_exec 0 "$here/tagged.py" send ff:ff:ff:ff:ff:ff 8100000a81000014
net_until 5 "vlan_tag" prints -eq 1 net_telemetry /swagg/drops vlan_tag

step "a port is taken out by a reload, and put back, though the VLANs come in another order without it"
second_reloads() { # COUNT: how often it has
    kill -HUP "$second"
    net_until 30 "the second switch has reloaded" sh -c "[ \$(grep -c 'reload: $NET_DIR/second.yaml: done' '$NET_DIR/second.log') = $1 ]"
}
cp "$NET_DIR/second.yaml" "$NET_DIR/kept.yaml"
sed -i '/name: h4/d' "$NET_DIR/second.yaml"
second_reloads 1
reaches 5 10.77.0.253
cp "$NET_DIR/kept.yaml" "$NET_DIR/second.yaml"
second_reloads 2
reaches 4 10.77.0.254

net_swagg_stop
