# shellcheck shell=bash
# shellcheck disable=SC2154 # of switches.sh and parts.sh
# Gradients that three workers send to a host, summed in the switch and, by the same code, in the host: frames of 1516 bytes, on links of
# 100 Mbit/s and on links without a limit. Switch and host take turns.

CASE1_WORKERS=3 CASE1_ELEMENTS=366

case1() {
    local links where arrays=10
    [ -z "$quick" ] || arrays=3
    net_hosts $((CASE1_WORKERS + 1)) 1502
    for links in 100mbit none; do
        net_limit "$links"
        for where in host switch; do
            case1_measure "$where" "$links" "$arrays"
        done
    done
}

case1_job() {
    local i workers=
    for ((i = 0; i < CASE1_WORKERS; i++)); do
        workers+="{ip: $(net_ip "$i"), mac: \"$(net_mac "$i")\"}, "
    done
    printf 'hostagg: [{name: case1, elements: %d, host: {ip: %s, mac: "%s", port: 5000}, workers: [%s]}]\n' "$CASE1_ELEMENTS" \
        "$(net_ip "$CASE1_WORKERS")" "$(net_mac "$CASE1_WORKERS")" "${workers%, }"
}

# The slowest worker's report is the record.
case1_measure() { # WHERE LINKS ARRAYS
    local i host worker=() log settings=("mtu: 1502")
    local job=(--workers "$CASE1_WORKERS" --elements "$CASE1_ELEMENTS" --floats 400000 --arrays "$3")
    local role=(--sum)
    if [ "$1" = switch ]; then
        settings+=("$(case1_job)")
        role=(--switch "$(net_switch_ip)")
    fi
    net_swagg_config "$NET_DIR/swagg.yaml" "${settings[@]}"
    net_swagg_start "$NET_DIR/swagg.yaml"
    ip netns exec "$NET_ID-h$CASE1_WORKERS" "$NET_BUILD/traffic/swagg-hostagg-host" "${role[@]}" "${job[@]}" >"$NET_DIR/host.log" 2>&1 &
    host=$!
    for ((i = 0; i < CASE1_WORKERS; i++)); do
        ip netns exec "$NET_ID-h$i" "$NET_BUILD/traffic/swagg-hostagg-worker" --host "$(net_ip "$CASE1_WORKERS"):5000" --worker "$i" \
            --ask-after 200 --json "$NET_DIR/worker$i.json" "${job[@]}" >"$NET_DIR/worker$i.log" 2>&1 &
        worker+=($!)
    done
    for i in "${!worker[@]}"; do
        wait "${worker[i]}" || fail "case1, $1: worker $i: $(cat "$NET_DIR/worker$i.log")"
    done
    [ "$1" = switch ] || kill "$host"
    wait "$host" || fail "case1, $1: $(cat "$NET_DIR/host.log")"
    net_swagg_stop
    python3 -c 'import json, sys; print(json.dumps(max((json.load(open(f)) for f in sys.argv[1:]), key=lambda r: r["median_s"])))' \
        "$NET_DIR"/worker[0-9].json >"$records/$run,case1,$1,$2.json"
    log=$(cat "$records/$run,case1,$1,$2.json")
    printf '  run %s: case1, in the %-6s links %-7s %s\n' "$run" "$1" "$2" "$log"
}
