# shellcheck shell=bash
# shellcheck disable=SC2154 # of operate.sh and parts.sh
# Scrapes of a switch with 256 jobs of 64 ranks: with as many ranks that have series as there are by default, and with all. An answer is made
# at most once a second for each form of the text, so forms take turns.

scrape() {
    local count=100
    [ -z "$quick" ] || count=10
    scrape_crowd some "$count"
    net_hosts_remove
    [ -n "$quick" ] || scrape_crowd all 20 ", ranks: 16384"
}

scrape_crowd() { # WHAT COUNT [SETTINGS]
    local rank addresses=() crowd before warm file=$records/$run,scrape,$1.json
    net_hosts 1
    for ((rank = 0; rank < 64; rank++)); do
        addresses+=("$NET_SUBNET.$((100 + rank))")
        ip -n "$NET_ID-h0" addr add "${addresses[rank]}/24" dev eth0
    done
    net_swagg_with "limits: {jobs: 256, jobs_per_host: 256, workers: 64}" "pool: {slots_per_job: 2}" "timers: {lost_after_ms: 600000}" \
        "metrics: {listen: \"127.0.0.1:$METRICS_PORT\"${3:-}}"
    net_background "$NET_DIR/crowd.log" ip netns exec "$NET_ID-h0" "$NET_ROOT/bench/parts/crowd.py" "$(net_switch_ip)" 256 "${addresses[@]}"
    crowd=$!
    net_until 120 "256 jobs of 64 ranks" scrape_crowd_is_there_or_gone "$crowd"
    grep -q ready "$NET_DIR/crowd.log" || fail "scrape: $(cat "$NET_DIR/crowd.log")"
    before=$(scrape_memory)
    scrape_times 4
    warm=$(scrape_memory)
    scrape_times "$2"
    python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1])) | dict(zip(("kib_before", "kib_warm", "kib_after"), map(int, sys.argv[2:])))))' \
        "$NET_DIR/scrapes.json" "$before" "$warm" "$(scrape_memory)" >"$file"
    printf '  run %s: scrape, %-5s %s\n' "$run" "$1" "$(sed 's/.*], //' "$file")"
    kill "$crowd"
    net_swagg_stop
}

scrape_crowd_is_there_or_gone() { # PID
    grep -q ready "$NET_DIR/crowd.log" || net_gone "$1"
}

scrape_times() { # COUNT
    ip netns exec "$NET_ID-sw" "$NET_ROOT/bench/parts/scraping.py" "127.0.0.1:$METRICS_PORT" 0.6 "$1" >"$NET_DIR/scrapes.json" || fail "scrape: no answer"
}

scrape_memory() { # KiB that are resident
    awk '/^VmRSS/ { print $2 }' "/proc/$NET_SWAGG_PID/status"
}
