# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with script/lib/dut.sh and tenancy.sh
# What one lcore does for jobs of 8, 64 and 1,024 workers, and what it costs to note who is late. The workers' frames are a capture
# in memory, over and over, so the lcore never waits; and rates are by its own running time, which other programs take nothing from.

one_lcore() {
    local turn turns=7 ran_ms=700
    if [ -n "$quick" ]; then
        turns=3 ran_ms=200
    fi
    one_lcore_capture 8 32
    one_lcore_capture 64 4
    one_lcore_capture 1024 2
    for ((turn = 1; turn <= turns; turn++)); do
        one_lcore_adds delays 8 32
        DUT_SETTINGS="pool: {delays: false}" one_lcore_adds no_delays 8 32
        one_lcore_adds workers_64 64 4
        one_lcore_adds workers_1024 1024 2
    done
}

one_lcore_capture() { # WORKERS SLOTS
    "$NET_BUILD/traffic/swagg-pcap" gen -o "$NET_DIR/workers_$1.pcap" -n "$1" -s "$2" -p 4 --frame 1076 --type float32 --one-host \
        >"$NET_DIR/gen.log"
}

one_lcore_adds() { # WHAT WORKERS SLOTS
    local PHASES=4
    {
        printf 'switch: {mac: "%s", ip: %s}\n' "$NET_SWITCH_MAC" "$(net_switch_ip)"
        printf 'ports: [{device: "net_pcap0,rx_pcap=%s,infinite_rx=1"}]\n' "$NET_DIR/workers_$2.pcap"
        swagg_settings "$2" "$3" "one_host: true"
    } >"$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
    python3 "$(dirname "${BASH_SOURCE[0]}")/rate.py" "$NET_TELEMETRY" "$NET_ID" "$ran_ms" \
        "$records/$run,swagg,one_lcore,$1,$turn.json" sums || fail "$1: the rate could not be measured"
    printf '  run %s: one_lcore, %-14s %s\n' "$run" "$1" "$(cat "$records/$run,swagg,one_lcore,$1,$turn.json")"
    net_swagg_stop
}
