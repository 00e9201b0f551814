# shellcheck shell=bash
# The interpreted program as a chip between real interfaces, and swagg-tofino on its CPU's: the switch of three hosts. Its
# configuration is tofino.yaml in $NET_DIR, with `control: {path: $NET_DIR/ctl}`.

switch_exec() {
    ip netns exec "$NET_ID-sw" "$@"
}

# The link between the chip and its CPU, which alone answers for the switch's address.
chip_link() {
    switch_exec sysctl -qw net.ipv4.conf.all.arp_ignore=1
    switch_exec ip link add chip type veth peer name cpu address "$NET_SWITCH_MAC"
    switch_exec ip link set chip up
    switch_exec ip link set cpu up
    switch_exec ethtool -K cpu tx off >/dev/null
    switch_exec ethtool -K chip tx off >/dev/null
    switch_exec ip addr add "$(net_switch_ip)/24" dev cpu
}

chip_start() { # CHIP LOSS
    rm -f "$NET_DIR/bfrt" "$NET_DIR/jobs" "$NET_DIR/state"
    net_background "$NET_DIR/chip.log" ip netns exec "$NET_ID-sw" /usr/bin/python3 "$NET_ROOT/tests/p4/wire_switch.py" \
        --listen "$NET_DIR/bfrt" --interfaces p0,p1,p2 --cpu-interface chip --chip "$1" --loss "$2"
    chip_pid=$!
    net_until 60 "the chip listens" test -S "$NET_DIR/bfrt"
}

chip_stop() {
    kill -TERM "$chip_pid"
    net_until 30 "the chip has ended" net_gone "$chip_pid"
}

chip_has_no_jobs() {
    python3 -c 'import json, sys; s = json.load(open(sys.argv[1])); sys.exit(len(s["jobs"]) + len(s["unfinished"]))' "$NET_DIR/state"
}

helper_of() { # CHIP
    helper=(env PYTHONDONTWRITEBYTECODE=1 "PYTHONPATH=$NET_ROOT/tests/p4" /usr/bin/python3 "$NET_ROOT/p4/helper.py" --switch "$NET_DIR/bfrt"
        --chip "$1" --loops 68 --cpu 64 --state "$NET_DIR/state")
}

switch_start() {
    net_background "$NET_DIR/switch.log" ip netns exec "$NET_ID-sw" "$NET_BUILD/tofino/swagg-tofino" --state "$NET_DIR/jobs" \
        --helper-timeout 600 "$NET_DIR/tofino.yaml" -- "${helper[@]}"
    switch=$!
}

# "boot_id", or "running": how many jobs the next life would find.
kept() { # WHAT
    python3 -c 'import json, sys; s = json.load(open(sys.argv[2])); print(len(s["jobs"]) if sys.argv[1] == "running" else s[sys.argv[1]])' \
        "$1" "$NET_DIR/jobs"
}

keeps() { # WHAT VALUE
    [ "$(kept "$1")" = "$2" ]
}

switch_stop() {
    kill -TERM "$switch"
    net_until 30 "swagg-tofino has ended" net_gone "$switch"
    wait "$switch" || fail "swagg-tofino: $(cat "$NET_DIR/switch.log")"
}

switch_kill() {
    kill -KILL "$switch"
    net_until 30 "swagg-tofino has ended" net_gone "$switch"
    wait "$switch" || true
}

ctl() { # OPTION-OR-WORD...
    "$NET_BUILD/swaggctl/swaggctl" --switch "$NET_DIR/ctl" --no-header "$@"
}

shows() { # TEXT OPTION-OR-WORD...
    ctl "${@:2}" | grep -q -- "$1"
}
