# shellcheck shell=bash
# shellcheck disable=SC2154 # of switches.sh and parts.sh
# Four hosts on one switch, on two levels and on three, every link limited to 50 Mbit/s; what goes up from a leaf; and the time that is
# lost when a leaf is killed and started again in the middle of a collective.

# shellcheck source=script/lib/tree.sh
. "$NET_LIB/tree.sh"

tree() {
    local levels
    for levels in 1 2 3; do
        "tree_of_$levels"
        for name in "${TREE_SWITCHES[@]}"; do
            tree_config "$name" "pool: {megabytes: 16, kept_frames: 1024}" "memory: {mode: no-huge, megabytes: 160}"
        done
        tree_start "${TREE_SWITCHES[@]}"
        tree_limit 50mbit
        tree_goodput "$levels"
        [ "$levels" != 2 ] || tree_restart
        tree_remove
    done
}

tree_of_1() {
    tree_switch root 254
    tree_hosts root 4
}

tree_of_2() {
    tree_switch root 254
    tree_switch left 251 root
    tree_switch right 252 root
    tree_hosts left 2
    tree_hosts right 2
}

tree_of_3() {
    tree_switch root 254
    tree_switch left 251 root
    tree_switch right 252 root
    tree_switch deepleft 249 left
    tree_switch deepright 250 right
    tree_hosts deepleft 2
    tree_hosts deepright 2
}

tree_switch_of() { # RANK
    echo "${TREE_IP[${TREE_SWITCH_OF[$1]}]}"
}

# One allreduce after another.
tree_perf() { # WHAT MEGABYTES CALLS
    PERF_SWITCH=tree_switch_of perf_ranks "tree,$1" 4 --job tree -b "$2M" -e "$2M" -n "$3" -w 1
    printf '  run %s: tree, %-10s %s\n' "$run" "$1" "$(cut -c1-120 "$records/$run,tree,$1.json" | tr -d '\n')"
}

tree_bytes() { # PORT KEY: of the left leaf
    tree_telemetry left "/swagg/port,$1" "$2"
}

tree_goodput() { # LEVELS
    local calls=10 up before=()
    [ -z "$quick" ] || calls=3
    [ "$1" != 2 ] || before=("$(tree_bytes uplink tx_bytes)" "$(tree_bytes p0 rx_bytes)" "$(tree_bytes p1 rx_bytes)")
    tree_perf "levels$1" 2 "$calls"
    [ "$1" = 2 ] || return 0
    up=$(($(tree_bytes uplink tx_bytes) - before[0]))
    printf '{"up": %d, "workers": [%d, %d]}\n' "$up" $(($(tree_bytes p0 rx_bytes) - before[1])) \
        $(($(tree_bytes p1 rx_bytes) - before[2])) >"$records/$run,tree,bytes.json"
}

# The left leaf is killed once a quarter of the collective has passed, and started again at once. Its parent, this shell, does that: only
# it can wait until all of the process is gone.
tree_restart() {
    local megabytes=32 before perf
    tree_perf undisturbed "$megabytes" 1
    before=$(tree_telemetry left /swagg/counters results)
    tree_perf restarted "$megabytes" 1 &
    perf=$!
    # The warm-up has as many results as the collective that counts, for each of the leaf's two workers.
    "$NET_TELEMETRY" --until $((before + megabytes * 2 ** 20 * 5 / 2 / 1460)) "$NET_ID-left" /swagg/counters results \
        >"$NET_DIR/results.log" || fail "the collective is not under way"
    tree_kill left
    tree_start left
    wait "$perf" || fail "the collective did not survive the restart"
    grep -q 'resumed:' "$NET_DIR/left.log" || fail "the left leaf was not killed in the middle"
}
