# shellcheck shell=bash
# shellcheck disable=SC2154 # of switches.sh and parts.sh
# Frames that may not be touched, of workers to a host, summed in the switch and in the host: 1,000 frames of 192 bytes of each, on links
# of 10 Mbit/s; by the switch's threads and by the number of workers. The switch's sums go to a collector on a link of its own. Switch and
# host take turns.

# shellcheck source=bench/parts/organisations.sh
. "$NET_ROOT/bench/parts/organisations.sh"

CASE2_FRAMES=1000

case2() {
    local turns=5 workers form counts=(3 4)
    if [ -n "$quick" ]; then
        turns=2 counts=()
    fi
    case2_hosts 2
    for form in one p_2x 2p_x; do
        case2_both 2 "$form" "$turns"
    done
    for workers in "${counts[@]}"; do
        net_hosts_remove
        case2_hosts "$workers"
        case2_both "$workers" one "$turns"
    done
}

# The workers, then the host, then the collector.
case2_hosts() { # WORKERS
    net_hosts $(($1 + 2))
    net_limit 10mbit
}

# The records are the medians of several turns.
case2_both() { # WORKERS ORGANISATION TURNS
    local turn where to
    for where in host switch; do
        case2_start "$where" "$1" "$2"
        for ((turn = 1; turn <= $3; turn++)); do
            case2_measure "$where" "$1" "$turn"
        done
        net_swagg_stop
        to=$records/$run,case2,$where,$1,$2.json
        python3 -c 'import json, statistics, sys
print(json.dumps({"seconds": statistics.median(json.load(open(f))["seconds"] for f in sys.argv[1:])}))' \
            "$NET_DIR"/case2,"$where",*.json >"$to"
        printf '  run %s: case2, in the %-6s %s workers, %-4s %s\n' "$run" "$where" "$1" "$2" "$(cat "$to")"
    done
    rm -f "$NET_DIR"/case2,*.json
}

case2_job() { # WORKERS
    local i workers=
    for ((i = 0; i < $1; i++)); do
        workers+="\"$(net_mac "$i")\", "
    done
    printf 'clone: [{name: case2, host: "%s", workers: [%s], match: "01", sequence_at: 16, ' "$(net_mac "$1")" "${workers%, }"
    printf 'collector: {ip: %s, mac: "%s", port: 6000}}]\n' "$(net_ip $(($1 + 1)))" "$(net_mac $(($1 + 1)))"
}

case2_start() { # WHERE WORKERS ORGANISATION
    local i settings=()
    settings=("$(organisation "$3")")
    [ "$1" = host ] || settings+=("$(case2_job "$2")")
    net_swagg_config "$NET_DIR/swagg.yaml" "${settings[@]}"
    net_swagg_start "$NET_DIR/swagg.yaml"
    for i in "$2" $(($2 + 1)); do # so that the switch floods nothing
        net_until 20 "host $i was heard" net_exec "$i" ping -q -c1 -W5 "$(net_switch_ip)"
    done
}

case2_measure() { # WHERE WORKERS TURN
    local i host start summing=$2 worker=() program=$NET_ROOT/bench/parts/frames.py
    if [ "$1" = switch ]; then
        summing=$(($2 + 1))
        net_ctl job reset case2 >"$NET_DIR/reset.log" # numbers start over
    fi
    ip netns exec "$NET_ID-h$summing" timeout 120 python3 "$program" "$1" "$2" "$CASE2_FRAMES" "$NET_DIR/ended" \
        >"$NET_DIR/case2.log" 2>&1 &
    host=$!
    net_until 20 "the host listens" grep -q listens "$NET_DIR/case2.log"
    start=$(python3 -c 'import time; print(time.monotonic() + 2)') # by then the workers have made their frames
    for ((i = 0; i < $2; i++)); do
        ip netns exec "$NET_ID-h$i" python3 "$program" send "$i" "$CASE2_FRAMES" "$start" "$(net_mac "$2")" \
            >"$NET_DIR/worker$i.log" 2>&1 &
        worker+=($!)
    done
    wait "${worker[@]}" || fail "case2, $1: a worker: $(cat "$NET_DIR"/worker*.log)"
    wait "$host" || fail "case2, $1: $(cat "$NET_DIR/case2.log")"
    python3 -c 'import json, sys; print(json.dumps({"seconds": float(open(sys.argv[1]).read()) - float(sys.argv[2])}))' \
        "$NET_DIR/ended" "$start" >"$NET_DIR/case2,$1,$3.json"
}
