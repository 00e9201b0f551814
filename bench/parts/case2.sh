# shellcheck shell=bash
# shellcheck disable=SC2154 # of switches.sh and parts.sh
# Frames that may not be touched, of two workers to a host, summed in the switch and in the host: 1,000 frames of 192 bytes each, on links
# of 10 Mbit/s. The switch's sums go to a collector on a link of its own. Switch and host take turns.

CASE2_WORKERS=2 CASE2_HOST=2 CASE2_COLLECTOR=3 CASE2_FRAMES=1000

case2() {
    local turn turns=5
    [ -z "$quick" ] || turns=2
    net_hosts $((CASE2_WORKERS + 2))
    net_limit 10mbit
    for ((turn = 1; turn <= turns; turn++)); do
        case2_measure host "$turn"
        case2_measure switch "$turn"
    done
    for turn in host switch; do
        python3 -c 'import json, statistics, sys
print(json.dumps({"seconds": statistics.median(json.load(open(f))["seconds"] for f in sys.argv[1:])}))' \
            "$NET_DIR"/case2,"$turn",*.json >"$records/$run,case2,$turn.json"
        printf '  run %s: case2, in the %-6s %s\n' "$run" "$turn" "$(cat "$records/$run,case2,$turn.json")"
    done
    rm -f "$NET_DIR"/case2,*.json
}

case2_job() {
    local i workers=
    for ((i = 0; i < CASE2_WORKERS; i++)); do
        workers+="\"$(net_mac "$i")\", "
    done
    printf 'clone: [{host: "%s", workers: [%s], match: "01", sequence_at: 16, ' "$(net_mac "$CASE2_HOST")" "${workers%, }"
    printf 'collector: {ip: %s, mac: "%s", port: 6000}}]\n' "$(net_ip "$CASE2_COLLECTOR")" "$(net_mac "$CASE2_COLLECTOR")"
}

case2_measure() { # WHERE TURN
    local i host start summing=$CASE2_HOST worker=() settings=() program
    program=$(dirname "${BASH_SOURCE[0]}")/frames.py
    if [ "$1" = switch ]; then
        settings+=("$(case2_job)")
        summing=$CASE2_COLLECTOR
    fi
    net_swagg_config "$NET_DIR/swagg.yaml" "${settings[@]}"
    net_swagg_start "$NET_DIR/swagg.yaml"
    for i in "$CASE2_HOST" "$CASE2_COLLECTOR"; do # so that the switch floods nothing
        net_until 20 "host $i was heard" net_exec "$i" ping -q -c1 -W5 "$(net_switch_ip)"
    done
    ip netns exec "$NET_ID-h$summing" timeout 120 python3 "$program" "$1" "$CASE2_WORKERS" "$CASE2_FRAMES" "$NET_DIR/ended" \
        >"$NET_DIR/case2.log" 2>&1 &
    host=$!
    net_until 20 "the host listens" grep -q listens "$NET_DIR/case2.log"
    start=$(python3 -c 'import time; print(time.monotonic() + 2)') # by then the workers have made their frames
    for ((i = 0; i < CASE2_WORKERS; i++)); do
        ip netns exec "$NET_ID-h$i" python3 "$program" send "$i" "$CASE2_FRAMES" "$start" "$(net_mac "$CASE2_HOST")" \
            >"$NET_DIR/worker$i.log" 2>&1 &
        worker+=($!)
    done
    wait "${worker[@]}" || fail "case2, $1: a worker: $(cat "$NET_DIR"/worker*.log)"
    wait "$host" || fail "case2, $1: $(cat "$NET_DIR/case2.log")"
    net_swagg_stop
    python3 -c 'import json, sys; print(json.dumps({"seconds": float(open(sys.argv[1]).read()) - float(sys.argv[2])}))' \
        "$NET_DIR/ended" "$start" >"$NET_DIR/case2,$1,$2.json"
}
