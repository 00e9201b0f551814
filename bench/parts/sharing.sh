# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # for script/lib/dut.sh, and what it and tenancy.sh set
# How jobs share a switch: two on an lcore that cannot keep up with both, of equal weight and of 3 to 1, beside one alone; and a
# job on links of 100 Mbit/s while another floods, disagrees and crashes, and a stranger joins and forges.

sharing() {
    local turn turns=5 seconds=0.5 slots=$((IN_FLIGHT / 8))
    [ -z "$quick" ] || turns=2 seconds=1
    for ((turn = 1; turn <= turns; turn++)); do
        sharing_plays alone 1 1 "$slots" 1
        sharing_plays alone_wide 1 2 $((2 * slots)) 1
        sharing_plays no_turns 2 2 "$slots"
        sharing_plays equal 2 2 "$slots" 1
        sharing_plays three_to_one 2 2 "$slots" 3
    done
    sharing_victim
}

# Jobs of 8 workers keep all their slots on their way, each on an equal part of the ports. They are of one tenant each, the first of
# this weight; without a weight they are of none, and so take no turns.
sharing_plays() { # WHAT JOBS PORTS SLOTS [WEIGHT]
    local what=$1 jobs=$2 ports=$3 slots=$4 weight=${5:-} j tenants=(a b)
    memif_config "$NET_DIR/swagg.yaml" "$ports" 1076
    {
        echo "lcores: [{cpu: $dut_cpu, rx: [all], tx: [all], aggregate: [0]}]"
        echo "memory: {mode: $swagg_memory, megabytes: $MEMORY}"
        echo "idle: {max_sleep_us: 0}"
        [ -z "$weight" ] ||
            echo "tenants: [{name: a, addresses: [10.0.0.1], weight: $weight}, {name: b, addresses: [10.0.0.2]}]"
        echo "replay:"
        for ((j = 0; j < jobs; j++)); do
            printf '  - {workers: 8, slots: %d, phases: %d, %s' "$slots" "$PHASES" "${weight:+tenant: ${tenants[j]}, }"
            printf 'worker_mac: "02:00:00:00:01:%02x", worker_ip: 10.77.0.%d}\n' $((1 + 8 * j)) $((1 + 8 * j))
        done
    } >>"$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
    play swagg "sharing,$what,$turn" "$ports" 1076 --workers 8 --slots "$slots" --jobs "$jobs"
    net_swagg_stop
    played
}

# Mean times of allreduces of 1 MB on hosts 0 and 1, alone and with everything on hosts 2 and 3 that others can do. The victim is
# a tenant of its own: else a stranger that is first to say that it is rank 0 is rank 0.
sharing_victim() {
    local turn turns=3 calls=20
    [ -z "$quick" ] || turns=2 calls=8
    [ "$NET_HOSTS" -ge 4 ] || net_hosts 4
    net_limit 100mbit
    net_swagg_config "$NET_DIR/swagg.yaml" "lcores: [{cpu: $dut_cpu, rx: [all], tx: [all], aggregate: [0]}]" \
        "tenants: [{name: victim, addresses: [$(net_ip 0), $(net_ip 1)]}, {name: others, addresses: [0.0.0.0/0]}]"
    net_swagg_start "$NET_DIR/swagg.yaml"
    for ((turn = 1; turn <= turns; turn++)); do
        sharing_times quiet
        sharing_attack
        sharing_times attacked
        net_end_processes "$NET_ID-h2"
        net_end_processes "$NET_ID-h3"
        wait "${attackers[@]}" 2>/dev/null || true
    done
    net_swagg_stop
}

sharing_times() { # WHAT
    perf_ranks "swagg,sharing,$1,$turn" 2 --job victim -b 1M -e 1M -n "$calls" -w 3
    printf '  run %s: sharing, %-10s %s\n' "$run" "$1" "$(cut -c1-120 "$records/$run,swagg,sharing,$1,$turn.json" | tr -d '\n')"
}

sharing_attack() {
    local host dir
    dir=$(dirname "${BASH_SOURCE[0]}")
    attackers=()
    for host in 2 3; do
        ip netns exec "$NET_ID-h$host" "$dir/hostile.sh" $((host - 2)) "$(net_switch_ip)" "$NET_BUILD" "$(net_ip 0)" \
            >"$NET_DIR/hostile$host.log" 2>&1 </dev/null &
        attackers+=($!)
    done
    sleep 1
}
