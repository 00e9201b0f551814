#!/usr/bin/env bash
# swagg-doctor: nothing is found on a healthy way to a switch; each fault that is made on purpose is found, with what to type.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

WAY=interface,firewall,arp,versions,switch,mtu,losses,rate # not the machine, which is what it is
found=$NET_ROOT/build # what was printed

# Looks at the way from host 0; what it prints is in $found, its exit status in $status. Who is slow is waited for.
doctor() { # [OPTION...]
    status=0
    net_exec 0 "$NET_BUILD/doctor/swagg-doctor" --only "$WAY" --all --rate 0.2 --questions 1000 "$@" >"$found" 2>&1 || status=$?
}
finds() { # LEVEL TOPIC REGEX
    expect_match "what the doctor says" "$(cat "$found")" "(^|
)$1 +$2 +[^
]*$3"
}
# The same, as soon as it finds that: who stands still loses packets, and what it says of who is silent depends on ICMP or ARP, which may
# come too late.
doctor_finds() { # STATUS LEVEL TOPIC REGEX [OPTION...]
    finding=("${@:1:4}")
    net_until 120 "$*" looks_and_finds "${@:5}"
}
looks_and_finds() { # [OPTION...]
    doctor "$@"
    [ "$status" -eq "${finding[0]}" ] && grep -Eq "^${finding[1]} +${finding[2]} +.*${finding[3]}" "$found"
}
ends() { # STATUS
    [ "$status" -eq "$1" ] || fail "exit status $status, not $1: $(cat "$found")"
}

begin_with_swagg doctor
found=$NET_DIR/found.log # is shown if the test fails
switch=$(net_switch_ip)
reaches 0 "$switch"

step "a healthy way: nothing is found, and each thing was looked at"
healthy() {
    doctor --patience 60 --strict "$switch"
    [ "$status" -eq 0 ] && ! grep -Eq '^(warning|fault)' "$found"
}
net_until 120 "nothing is found" healthy # on a busy machine a packet may be lost
for topic in interface firewall arp versions switch mtu losses rate; do
    finds ok "$topic" "."
done
finds ok mtu "packets of 1500 bytes"

step "the switch that runs is the one that is installed"
net_swagg_config "$NET_DIR/good.yaml"
ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" doctor --only versions --all "$NET_DIR/good.yaml" >"$found" 2>&1
finds ok versions "$NET_ID: [^ ]+ runs, and is installed"

step "as JSON, with the address from the environment"
json_is_good() {
    SWAGG_SWITCH=$switch doctor --patience 60 --json
    python3 - "$found" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["faults"] == 0 and {f["topic"] for f in told["findings"]} >= {"switch", "mtu", "losses"}, told
assert all(f["level"] in ("ok", "skipped", "warning", "fault") and f["saw"] for f in told["findings"]), told
END
}
net_until 120 "it says the same" json_is_good

step "longer packets than a port on the way carries"
net_exec 0 ip link set eth0 mtu 9000
doctor_finds 0 warning mtu "packets of 1500 bytes get there and back, those of 9000 do not" --patience 60 --rate 0 "$switch"
doctor_finds 1 fault mtu "packets of 1500 bytes .* those of 9000 do not" --patience 60 --rate 0 --mtu 9000 "$switch"
net_exec 0 ip link set eth0 mtu 1400
doctor_finds 1 fault interface "eth0: its mtu is 1400, and packets are to have 1500" --patience 60 --rate 0 --mtu 1500 "$switch"
net_exec 0 ip link set eth0 mtu 1500

step "a link that loses"
net_ctl impair set h0 rx drop=0.1
doctor_finds 1 fault losses "[0-9]+ of 1000 packets were lost" --patience 5 --rate 0 "$switch"
net_ctl impair clear h0

step "a rule that drops"
net_exec 0 nft "add table inet t; add chain inet t in { type filter hook input priority 0; }; add rule inet t in udp sport 48864-48879 drop"
doctor_finds 1 fault switch "its control port answers, and UDP port 48864 does not" --patience 60 "$switch"
finds fault firewall "a rule drops swagg's packets: udp sport 48864-48879 drop"
net_exec 0 nft "delete table inet t; add table inet t; add chain inet t out { type filter hook output priority 0; policy drop; }"
doctor_finds 1 fault switch "this host's own rules let nothing out" --patience 1 "$switch"
finds warning firewall "none accepts swagg's ports"
net_exec 0 nft delete table inet t

step "another host's address, one that nobody has, no way at all"
reaches 0 "$(net_ip 1)"
doctor_finds 1 fault switch "a host is there, but no swagg" --patience 2 "$(net_ip 1)"
doctor_finds 1 fault arp "nobody in this network" --patience 2 "${switch%.*}.77"
doctor --patience 1 192.0.2.1
ends 1
finds fault switch "no way there"

step "a switch that lets nobody in"
net_swagg_stop
net_swagg_with "tenants: []"
doctor_finds 1 fault rate "a job of one rank cannot begin" --patience 60 "$switch"
step "a key file that is not there is nothing of the switch's"
doctor_finds 1 fault rate "none.key: No such file" --patience 60 --key-file "$NET_DIR/none.key" "$switch"
expect_match "what to type" "$(cat "$found")" "-> --job NAME and --key-file FILE"
net_swagg_stop

step "no switch there"
ip -n "$NET_ID-h0" neigh flush all
doctor_finds 1 fault arp "nobody in this network" --patience 2 "$switch"

step "the switch's own side: a port that is not there, one with an address, one in a bridge"
box() { # FILE
    status=0
    ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" doctor --only configuration,interface,permissions,devices --all "$1" >"$found" 2>&1 || status=$?
}
net_swagg_config "$NET_DIR/good.yaml"
box "$NET_DIR/good.yaml"
ends 0
finds ok configuration "is good"
finds ok permissions "."
ip -n "$NET_ID-sw" address add 192.0.2.7/24 dev p1
ip -n "$NET_ID-sw" link add br0 type bridge
ip -n "$NET_ID-sw" link set p2 master br0
ip -n "$NET_ID-sw" link set p3 down
box "$NET_DIR/good.yaml"
ends 1
finds warning interface "p1: it has an IPv4 address"
finds warning interface "p2: it is in br0"
finds fault interface "p3: no link"
printf 'ports: [{device: "0000:ff:1f.7"}, {device: kernel:nix}]\nmtu: 9000\n' >"$NET_DIR/bad.yaml"
box "$NET_DIR/bad.yaml"
ends 1
finds fault interface "nix: there is no such interface"
finds fault devices "0000:ff:1f.7: no PCI device"
printf 'port: []\n' >"$NET_DIR/bad.yaml"
box "$NET_DIR/bad.yaml"
ends 1
finds fault configuration "."
