#!/usr/bin/env bash
# What the daemon says to a bad configuration or a machine that does not fit: the file, the line, the key.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin configuration
net_hosts 2
config=$NET_DIR/bad.yaml

swagg_of() { # PREFIX [--check] CONFIGURATION
    ip netns exec "$NET_ID-sw" timeout 300 "$NET_BUILD/swagg/swagg" "${@:2}" -- --file-prefix="$1"
}

# --check and a start both refuse it, with these words and no crash.
says_no() { # REGEX
    expect_end 2 "$1" swagg_of "$NET_ID" --check "$config"
    expect_end 2 "$1" swagg_of "$NET_ID" "$config"
}

step "the examples are good"
for file in "$NET_ROOT"/conf/*.yaml; do
    eal=()
    case $file in
    */aggregator.yaml) program=swagg/swagg eal=(-- --no-huge) ;; # this machine may have no hugepages
    */server.yaml) program=server/swagg-ps ;;
    */tofino.yaml) program=tofino/swagg-tofino ;;
    *) program=swagg/swagg ;;
    esac
    expect_match "what $program says" "$("$NET_BUILD/$program" --check "$file" "${eal[@]}")" "^$file: good"
done

step "memif.yaml's traffic generator starts"
generator=$(sed -n '/^#   dpdk-testpmd/,/[^\\]$/{s/^# *//; s/\\$//; p}' "$NET_ROOT/conf/memif.yaml" | tr '\n' ' ')
generator=${generator/0@2,1@3/0@0,1@0} # whatever CPUs there are
generator=${generator/--file-prefix=left/--file-prefix=$NET_ID-left}
said=$(net_exec 0 timeout 300 bash -c "$generator" 2>&1 </dev/null) || fail "$generator: $said"
expect_match "what it says" "$said" "Shutting down port 0"

step "a file for another program is told from a mistake"
for other in server tofino; do
    config=$NET_ROOT/conf/$other.yaml
    says_no "(swagg-ps|swagg-tofino) takes (it|this file)"
done
config=$NET_DIR/bad.yaml

step "an unknown key is named, with its line"
net_swagg_config "$config" "pool:" "  slotz_per_job: 64"
says_no "$config:6: .*slotz_per_job"

step "a value out of range, with its line"
NET_IMPAIR='{rx: {drop: 1.5}}' net_swagg_config "$config"
says_no "$config:3: .*drop.*1.5"

step "two ports of one name"
printf 'ports:\n  - {name: a, device: "net_af_packet0,iface=p0"}\n  - {name: a, device: "net_af_packet1,iface=p1"}\n' \
    >"$config"
says_no "$config:3: .*name"

step "no YAML"
printf 'ports: [\n' >"$config"
says_no "$config:[0-9]+: "

step "no ports"
printf 'switch: {ip: 10.0.0.1/24}\n' >"$config"
says_no "ports"

step "no such file"
rm "$config"
says_no "$config.*[Nn]o such file"

# The configuration is good, but does not fit the machine: exit status 1.
does_not_start() { # REGEX
    expect_end 1 "$1" swagg_of "$NET_ID" "$config"
}

step "an interface that is not there"
printf 'ports:\n  - {name: a, device: "kernel:nothere"}\n' >"$config"
does_not_start 'port a: cannot open interface nothere: No such device: .ip link. lists those of this machine'

step "kernels that no CPU runs"
printf 'ports:\n  - {name: a, device: "kernel:p0"}\n' >"$config"
SWAGG_KERNELS=mmx does_not_start "SWAGG_KERNELS: this CPU runs no kernels called 'mmx'.*unset it"

step "a device that DPDK does not know"
printf 'ports:\n  - {name: a, device: "net_wondrous0,iface=p0"}\n' >"$config"
does_not_start 'port a: cannot open device net_wondrous0,iface=p0: .*: is there such a driver'

step "devices of DPDK's that fail without saying an error's number: none is made up"
printf 'ports:\n  - {name: a, device: "net_af_packet0,iface=nothere"}\n' >"$config"
does_not_start 'port a: cannot open device net_af_packet0,iface=nothere: Input/output error'
printf 'ports:\n  - {name: a, device: "net_memif0,socket=/nobody"}\n' >"$config"
does_not_start 'port a: cannot start: Input/output error'

step "the switch's address is an address of this machine: refused, with the command that mends it"
net_swagg_config "$config"
ip -n "$NET_ID-sw" addr add "$(net_switch_ip)/32" dev lo
does_not_start "switch.ip $(net_switch_ip) is an address of this machine, on lo, .*ip addr del $(net_switch_ip) dev lo"
ip -n "$NET_ID-sw" addr del "$(net_switch_ip)/32" dev lo

step "a port's interface that has an address, or is in a bridge: said, with the command that mends it"
ip -n "$NET_ID-sw" addr add 192.0.2.1/24 dev p0
ip -n "$NET_ID-sw" link add br0 type bridge
ip -n "$NET_ID-sw" link set p1 master br0
net_swagg_start "$config"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "interface p0 has the address 192.0.2.1, .*ip addr flush dev p0"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "interface p1 is part of br0, .*ip link set p1 nomaster"
net_swagg_stop
ip -n "$NET_ID-sw" link del br0
ip -n "$NET_ID-sw" addr flush dev p0
net_swagg_start "$config"
refuses grep -E "has the address|is part of" "$NET_DIR/swagg.log"
net_swagg_stop

# From here on it runs.
net_swagg_config "$config"

step "no other user of the machine keeps swagg from its interfaces"
ip netns exec "$NET_ID-sw" /usr/bin/python3 "$(dirname "${BASH_SOURCE[0]}")/squat.py" >"$NET_DIR/squat.log" 2>&1 &
squatter=$!
net_until 60 "he has all that he can" grep -q squatting "$NET_DIR/squat.log"
net_swagg_start "$config"
net_swagg_stop
kill "$squatter"
wait "$squatter" || true

step "a second one on the same ports, or with the same prefix, is refused, and the first goes on"
net_swagg_start "$config"
expect_end 1 "interface p0 is in use by another swagg, process $NET_SWAGG_PID:" swagg_of "$NET_ID-b" "$config"
printf 'ports: [{device: "net_af_packet0,iface=p1"}]\n' >"$NET_DIR/second.yaml"
expect_end 1 "interface p1 is in use by another swagg" swagg_of "$NET_ID-b" "$NET_DIR/second.yaml"
printf 'ports: [{device: "net_null0"}]\n' >"$NET_DIR/second.yaml"
expect_end 1 "another swagg runs with this file prefix .*$NET_ID" swagg_of "$NET_ID" "$NET_DIR/second.yaml"
reaches 0 "$(net_switch_ip)"
expect_equal "pid in telemetry" "$(net_telemetry /swagg/status pid)" "$NET_SWAGG_PID"
net_swagg_kill # a killed daemon holds no locks

step "a host that has the switch's address is heard, though it sends nothing of itself"
net_exec 1 ip addr add "$(net_switch_ip)/32" dev eth0
net_swagg_start "$config"
net_until 30 "the log tells" grep -q "first drop of kind own_ip, on port h1: .*another station uses it" "$NET_DIR/swagg.log"
net_swagg_stop
net_exec 1 ip addr del "$(net_switch_ip)/32" dev eth0

step "signals that mean nothing here are named, and nothing happens"
net_swagg_start "$config"
for signal in USR1 USR2 ALRM IO PWR STKFLT RTMIN RTMAX; do
    kill -"$signal" "$NET_SWAGG_PID"
    net_until 30 "swagg names SIG$signal" grep -q "signal $(kill -l "$signal") .* means nothing here" "$NET_DIR/swagg.log"
done
reaches 0 "$(net_switch_ip)"

step "a polling thread that has stood still is told, and why"
kill -STOP "$NET_SWAGG_PID"
sleep 1
kill -CONT "$NET_SWAGG_PID"
net_until 30 "the log tells" grep -Eq "lcore 1 on CPU [0-9]+ stood still .* ms in all.*: " "$NET_DIR/swagg.log"
net_until 30 "the second is counted" prints -ge 900 net_telemetry /swagg/lcore,1 stalled_ms
[ "$(net_telemetry /swagg/lcore,1 stalls)" -gt 0 ] || fail "no stall was counted"
net_until 30 "the kernel tells what the thread ran" prints -gt 0 net_telemetry /swagg/lcore,1 ran_ms

step "SIGHUP: a file that is not good changes nothing, and the log says what is wrong with it"
cp "$config" "$NET_DIR/kept.yaml"
sed 's/^timers:.*/timers: {lost_after_ms: never}/' "$NET_DIR/kept.yaml" >"$config"
kill -HUP "$NET_SWAGG_PID"
net_until 30 "the log tells" grep -q "$config:[0-9]*: timers.lost_after_ms: .*number" "$NET_DIR/swagg.log"
net_until 30 "the log tells" grep -q "reload: $config is not good .* nothing has changed" "$NET_DIR/swagg.log"
reaches 0 "$(net_switch_ip)"

step "SIGHUP: a key that needs a restart is refused by its name, and so is all the rest"
sed 's/^timers:.*/mtu: 1400\nidle: {spin: 77}/' "$NET_DIR/kept.yaml" >"$config"
expect_equal "a reload that is only tried" "$(net_ctl -H -o key,from,to,for reload --dry-run | grep -E '^(mtu|idle.spin) ' | tr -s ' ')" \
    $'mtu 1500 1400 restart\nidle.spin 1000 77 now'
kill -HUP "$NET_SWAGG_PID"
net_until 30 "the log tells" grep -q "$config: mtu: 1500 -> 1400 needs a restart" "$NET_DIR/swagg.log"
last_event() {
    net_ctl -H -o what,who,text events | tail -1 | tr -s ' '
}
net_until 30 "it is an event" prints = "operated SIGHUP reload: not done: the log says why" last_event
refuses grep -q "reload: idle.spin" "$NET_DIR/swagg.log"

step "SIGHUP: what is good counts, and is told"
sed '$a idle: {spin: 77}' "$NET_DIR/kept.yaml" >"$config"
kill -HUP "$NET_SWAGG_PID"
net_until 30 "the log tells" grep -q "reload: idle.spin: 1000 -> 77" "$NET_DIR/swagg.log"
net_ctl log level info
net_ctl config >"$NET_DIR/in-force.yaml"
ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" --check "$NET_DIR/in-force.yaml" >/dev/null
grep -qx "log_level: info" "$NET_DIR/in-force.yaml" || fail "the operator's level is not in what is in force"
grep -qx "  spin: 77" "$NET_DIR/in-force.yaml" || fail "what was reloaded is not in what is in force"
cp "$NET_DIR/in-force.yaml" "$config"
expect_equal "what it would change" "$(net_ctl --json reload --dry-run | tr -d ' \n')" '{"changes":[]}'
reaches 0 "$(net_switch_ip)"
expect_equal "lines without a time" "$(grep -Evc '^[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z swagg: ' "$NET_DIR/swagg.log" || true)" 0
net_swagg_stop
mv "$NET_DIR/kept.yaml" "$config"

step "SIGHUP: a new port that needs the device of one that runs is refused, and that one goes on"
NET_DEVICE=net_af_packet net_swagg_config "$NET_DIR/taken.yaml"
net_swagg_start "$NET_DIR/taken.yaml"
reaches 0 "$(net_ip 1)"
sed -i 's/name: h0/name: other/; s/net_af_packet0,iface=p0/net_af_packet0,iface=lo/' "$NET_DIR/taken.yaml"
kill -HUP "$NET_SWAGG_PID"
net_until 30 "the log tells" grep -q "reload: $NET_DIR/taken.yaml is not good" "$NET_DIR/swagg.log"
reaches 0 "$(net_ip 1)"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "ports\[other\].device: net_af_packet0 is port h0's: take that out"
net_swagg_stop

step "nobody reads the log: it starts, works and stops all the same"
mkfifo "$NET_DIR/unread"
exec 7<>"$NET_DIR/unread"
dd if=/dev/zero of="$NET_DIR/unread" bs=4096 count=64 oflag=nonblock 2>"$NET_DIR/dd.log" || true # it is full
ip netns exec "$NET_ID-sw" "$NET_BUILD/swagg/swagg" "$config" -- --file-prefix="$NET_ID" >&7 2>&1 </dev/null &
NET_SWAGG_PID=$!
net_until 30 "lines are lost" prints -gt 0 net_telemetry /swagg/status log_lines_lost
reaches 0 "$(net_switch_ip)"
net_swagg_stop
exec 7>&-

step "the log's file takes no more: it works all the same, and says later what was lost"
net_swagg_start "$config"
prlimit --pid "$NET_SWAGG_PID" --fsize=$(($(stat -c %s "$NET_DIR/swagg.log") + 10)):unlimited
kill -USR1 "$NET_SWAGG_PID"
net_until 30 "a line is lost" prints -gt 0 net_telemetry /swagg/status log_lines_lost
reaches 0 "$(net_switch_ip)"
prlimit --pid "$NET_SWAGG_PID" --fsize=unlimited
kill -USR1 "$NET_SWAGG_PID"
net_until 30 "the log goes on" grep -Eq 'Z swagg: warning: [0-9]+ lines were lost here: File too large$' "$NET_DIR/swagg.log"
net_swagg_stop
