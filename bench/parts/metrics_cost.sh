# shellcheck shell=bash
# shellcheck disable=SC2154 # of operate.sh and parts.sh
# What a job has of a switch that is scraped each second, beside the same without: allreduces of 4 MiB by four hosts, CPUs the limit. Who
# scrapes is on the same CPUs, and has begun before; in the place of that also a process that wakes as often and asks nobody. All take
# turns. Of each turn also what CPU time the daemon's thread took that answers.

metrics_cost() {
    local turn turns=12 calls=40 way
    [ -z "$quick" ] || turns=1
    net_hosts 4
    net_swagg_with "metrics: {listen: \"127.0.0.1:$METRICS_PORT\"}"
    records=$NET_DIR metrics_cost_perf first 20 # so that nobody is the first
    for ((turn = 1; turn <= turns; turn++)); do
        for way in 0 1 2; do
            case $(((run + turn + way * (1 + turn % 2)) % 3)) in # either way round
            0) metrics_cost_turn without ;;
            1) metrics_cost_beside waking - ;;
            2) metrics_cost_beside with "127.0.0.1:$METRICS_PORT" ;;
            esac
        done
    done
    net_swagg_stop
}

metrics_cost_perf() { # RECORD CALLS
    perf_ranks "$1" 4 --job goodput -b 4M -e 4M -n "$2" -w 2
}

# ns, of the daemon's thread that answers
metrics_cost_cpu() {
    local task
    for task in "/proc/$NET_SWAGG_PID/task"/*; do
        [ "$(<"$task/comm")" != swagg-metrics ] || cut -d' ' -f1 "$task/schedstat"
    done
}

metrics_cost_turn() { # WHAT
    local name=metrics_cost,$1,$turn cpu began=$EPOCHREALTIME
    cpu=$(metrics_cost_cpu)
    metrics_cost_perf "$name" "$calls"
    awk -v ns="$(($(metrics_cost_cpu) - cpu))" -v began="$began" -v ended="$EPOCHREALTIME" \
        'BEGIN { printf "{\"ns\": %d, \"s\": %.3f}\n", ns, ended - began }' >"$records/$run,metrics_cost,cpu_$1,$turn.json"
    printf '  run %s: metrics_cost, %-8s %s\n' "$run" "$1" "$(cut -c1-120 "$records/$run,$name.json" | tr -d '\n')"
}

metrics_cost_beside() { # WHAT WHOM-TO-ASK
    local other
    net_background "$NET_DIR/scraping.log" ip netns exec "$NET_ID-sw" "$NET_ROOT/bench/parts/scraping.py" "$2" 1 0
    other=$!
    net_until 60 "it scrapes" grep -q scrapes "$NET_DIR/scraping.log"
    metrics_cost_turn "$1"
    kill "$other"
    wait "$other" 2>/dev/null && fail "nobody was there: $(cat "$NET_DIR/scraping.log")"
    return 0
}
