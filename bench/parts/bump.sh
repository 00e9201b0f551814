# shellcheck shell=bash
# shellcheck disable=SC2154 # what switches.sh sets
# The places that a switch can have beside ordinary ones. A bump in the wire: two hosts behind a Linux bridge on either side, and between
# the bridges a third one, which is only a cable, or swagg. A box: swagg with one port on the bridge that all hosts are on. Ways take
# turns in each run.

BUMP_LINK=100mbit

bump() {
    local limit way
    net_hosts 4
    net_cable left lside
    net_cable right rside
    net_bridge_of lbr p0 p1 lside
    net_bridge_of rbr p2 p3 rside
    for limit in none "$BUMP_LINK"; do
        net_limit "$limit"
        for way in bridge swagg; do
            "bump_by_$way"
            bump_tcp "$limit,$way"
            bump_ping "$limit,$way"
            [ "$limit,$way" != "$BUMP_LINK,swagg" ] || bump_allreduce bump
            "bump_end_$way"
        done
    done
    bump_box
    for device in lbr rbr left right; do
        ip -n "$NET_ID-sw" link del "$device"
    done
}

bump_by_bridge() {
    net_bridge_of mid left right
}

bump_end_bridge() {
    ip -n "$NET_ID-sw" link del mid
}

bump_by_swagg() {
    {
        cat "$NET_ROOT/conf/bump.yaml"
        printf '%s\n' "${NET_SETTINGS[@]}"
    } >"$NET_DIR/bump.yaml"
    net_swagg_start "$NET_DIR/bump.yaml"
}

bump_end_swagg() {
    net_swagg_stop
}

bump_tcp() { # WHAT
    local seconds=5 to=$records/$run,bump,tcp,$1.json
    [ -z "$quick" ] || seconds=2
    net_iperf_server 2
    net_exec 0 timeout 100 iperf3 -J -O 1 -t "$seconds" -c "$(net_ip 2)" >"$to" || fail "iperf3: $(tail -5 "$to")"
    printf '  run %s: bump, tcp, %s: %s Mbit/s\n' "$run" "$1" \
        "$(python3 -c 'import json, sys; print(round(json.load(open(sys.argv[1]))["end"]["sum_received"]["bits_per_second"] / 1e6))' "$to")"
}

# The middle one of many.
bump_ping() { # WHAT
    local count=200
    [ -z "$quick" ] || count=50
    net_exec 0 ping -i 0.01 -c "$count" "$(net_ip 2)" | sed -n 's/.* time=\([0-9.]*\) ms/\1/p' | sort -n |
        awk '{ t[NR] = $1 } END { printf "{\"median_ms\": %s, \"pings\": %d}\n", t[int((NR + 1) / 2)], NR }' \
            >"$records/$run,bump,ping,$1.json"
    printf '  run %s: bump, ping, %s: %s\n' "$run" "$1" "$(cat "$records/$run,bump,ping,$1.json")"
}

bump_allreduce() { # WHERE
    local calls=20
    [ -z "$quick" ] || calls=5
    perf_ranks "bump,allreduce,$1" 4 --job "$1" -b 1M -e 1M -n "$calls" -w 3
    printf '  run %s: bump, allreduce, %-4s %s\n' "$run" "$1" "$(tr -d '\n' <"$records/$run,bump,allreduce,$1.json" | cut -c1-120)"
}

# The bridges become one by a cable, and the box has a port on it. Its cable has no limit: it carries what all hosts' links do.
bump_box() {
    net_cable inner outer
    ip -n "$NET_ID-sw" link set inner master lbr
    ip -n "$NET_ID-sw" link set outer master rbr
    ip -n "$NET_ID-sw" link set rside nomaster
    {
        printf 'ports: [{name: net, device: "kernel:left"}]\nswitch: {ip: %s/24}\n' "$(net_switch_ip)"
        printf '%s\n' "${NET_SETTINGS[@]}"
    } >"$NET_DIR/box.yaml"
    net_swagg_start "$NET_DIR/box.yaml"
    bump_allreduce box
    net_swagg_stop
    ip -n "$NET_ID-sw" link del inner
}
