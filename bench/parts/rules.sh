# shellcheck shell=bash
# shellcheck disable=SC2154 # of switches.sh and parts.sh
# What rules about flows between others cost traffic that is of none of them: one lcore gets frames out of a capture in memory, over and
# over, looks whose they are, and finds nobody to send them to. Numbers of rules take turns.

RULES_COUNTS=(1 16 256)

rules() {
    local kind count turn turns=5 ran_ms=500
    if [ -n "$quick" ]; then
        turns=1 ran_ms=200
    fi
    "$NET_BUILD/traffic/swagg-pcap" gen -o "$NET_DIR/passing.pcap" -n 8 -s 32 -p 4 --frame 192 --switch 02:00:00:00:02:01/10.77.9.1:5000 \
        >"$NET_DIR/gen.log"
    for ((turn = 1; turn <= turns; turn++)); do
        rules_measure none 0
        for kind in hostagg clone; do
            for count in "${RULES_COUNTS[@]}"; do
                rules_measure "$kind" "$count"
            done
        done
    done
}

rules_of() { # KIND COUNT: as YAML
    local i
    [ "$2" -eq 0 ] || echo "$1:"
    for ((i = 0; i < $2; i++)); do
        case $1 in
        hostagg)
            printf '  - {host: {ip: 10.77.8.%d, mac: "02:00:00:00:03:01", port: 5000}, ' "$i"
            printf 'workers: [{ip: 10.77.7.1, mac: "02:00:00:00:03:02"}], slots: 1, elements: 32}\n'
            ;;
        clone) printf '  - {host: "02:00:00:00:04:%02x", ether_type: 0x800, workers: ["02:00:00:00:05:%02x"], slots: 1}\n' "$i" "$i" ;;
        esac
    done
}

rules_measure() { # KIND COUNT
    local to=$records/$run,rules,$1,$2,$turn.json
    {
        printf 'switch: {mac: "%s", ip: 10.77.0.254/16}\n' "$NET_SWITCH_MAC"
        printf 'ports: [{device: "net_pcap0,rx_pcap=%s,infinite_rx=1"}]\n' "$NET_DIR/passing.pcap"
        printf 'lcores: [{rx: [all], tx: [all], aggregate: [0]}]\nidle: {max_sleep_us: 0}\n'
        printf '%s\n' "${NET_SETTINGS[@]}"
        rules_of "$1" "$2"
    } >"$NET_DIR/rules.yaml"
    net_swagg_start "$NET_DIR/rules.yaml"
    python3 "$NET_ROOT/bench/parts/rate.py" "$NET_TELEMETRY" "$NET_ID" "$ran_ms" "$to" frames || fail "$1 $2: the rate could not be measured"
    net_swagg_stop
    printf '  run %s: rules, %3s of %-7s %s\n' "$run" "$2" "$1" "$(cat "$to")"
}
