# shellcheck shell=bash
# shellcheck disable=SC2154 # of switches.sh and parts.sh
# Gradients that workers send to a host, summed in the switch and, by the same code, in the host: frames of 1516 bytes, on links of 100
# Mbit/s and on links without a limit; by the switch's threads, by the number of workers, and once with as many floats as a model has.
# Switch and host take turns.

# shellcheck source=bench/parts/organisations.sh
. "$NET_ROOT/bench/parts/organisations.sh"

CASE1_ELEMENTS=366 CASE1_FLOATS=400000 CASE1_GOOGLENET=6175000 # its 24.7 MB

case1() {
    local links form arrays=10 workers counts=(2 4 6)
    if [ -n "$quick" ]; then
        arrays=3 counts=(2)
    fi
    net_hosts 4 1502
    for links in 100mbit none; do
        net_limit "$links"
        for form in one p_2x 2p_x; do
            case1_both "$links" 3 "$form" "$CASE1_FLOATS" "$arrays"
        done
    done
    net_limit 100mbit
    [ -n "$quick" ] || case1_both 100mbit 3 one "$CASE1_GOOGLENET" 1
    for workers in "${counts[@]}"; do
        net_hosts_remove
        net_hosts $((workers + 1)) 1502
        for links in 100mbit none; do
            net_limit "$links"
            case1_both "$links" "$workers" one "$CASE1_FLOATS" "$arrays"
        done
    done
}

case1_both() { # LINKS WORKERS ORGANISATION FLOATS ARRAYS
    case1_measure host "$@"
    case1_measure switch "$@"
}

case1_job() { # WORKERS
    local i workers=
    for ((i = 0; i < $1; i++)); do
        workers+="{ip: $(net_ip "$i"), mac: \"$(net_mac "$i")\"}, "
    done
    printf 'hostagg: [{name: case1, elements: %d, host: {ip: %s, mac: "%s", port: 5000}, workers: [%s]}]\n' "$CASE1_ELEMENTS" \
        "$(net_ip "$1")" "$(net_mac "$1")" "${workers%, }"
}

# The slowest worker's report is the record.
case1_measure() { # WHERE LINKS WORKERS ORGANISATION FLOATS ARRAYS
    local i host to worker=() settings=("mtu: 1502" "$(organisation "$4")")
    local job=(--workers "$3" --elements "$CASE1_ELEMENTS" --floats "$5" --arrays "$6")
    local role=(--sum)
    to=$records/$run,case1,$1,$2,$3,$4,$5.json
    if [ "$1" = switch ]; then
        settings+=("$(case1_job "$3")")
        role=(--switch "$(net_switch_ip)")
    fi
    net_swagg_config "$NET_DIR/swagg.yaml" "${settings[@]}"
    net_swagg_start "$NET_DIR/swagg.yaml"
    ip netns exec "$NET_ID-h$3" "$NET_BUILD/traffic/swagg-hostagg-host" "${role[@]}" "${job[@]}" >"$NET_DIR/host.log" 2>&1 &
    host=$!
    rm -f "$NET_DIR"/worker*
    for ((i = 0; i < $3; i++)); do
        ip netns exec "$NET_ID-h$i" "$NET_BUILD/traffic/swagg-hostagg-worker" --host "$(net_ip "$3"):5000" --worker "$i" \
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
        "$NET_DIR"/worker[0-9].json >"$to"
    printf '  run %s: case1, in the %-6s links %-7s %s workers, %-4s %7s floats: %s\n' "$run" "$1" "$2" "$3" "$4" "$5" "$(cat "$to")"
}
