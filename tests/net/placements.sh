#!/usr/bin/env bash
# The same sums however the work is placed on lcores, with hugepages and without.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin placements
net_hosts 4

placed() { # TITLE YAML...
    step "$1"
    shift
    net_swagg_config "$NET_DIR/swagg.yaml" "$@"
    net_swagg_start "$NET_DIR/swagg.yaml"
    reaches 0 "$(net_ip 3)"
    ranks_run placed 4 --sizes 1,365,366,100003 --calls 40 --largest 100K
    net_swagg_stop
}

placed "the default"
placed "everything on one lcore, one shard" \
    "lcores:" "  - {rx: [all], tx: [all], aggregate: [0]}"
placed "ports on two lcores, four shards dealt to both" \
    "lcores:" "  - {rx: [h0, h1], tx: [h0, h1], aggregate: [0, 1]}" \
    "  - {rx: [h2, h3], tx: [h2, h3], aggregate: [2, 3]}"
placed "aggregation apart from the ports: P + 2X" \
    "lcores:" "  - {rx: [all], tx: [all]}" "  - {aggregate: [0]}" "  - {aggregate: [1]}"
placed "receiving, sending and aggregation apart: 2P + X" \
    "lcores:" "  - {rx: [all]}" "  - {tx: [all]}" "  - {aggregate: [0]}"
placed "a polling loop that never sleeps" \
    "idle: {max_sleep_us: 0}" "lcores:" "  - {rx: [all], tx: [all], aggregate: [0]}"
placed "ordinary pages" "memory: {mode: no-huge}"
SWAGG_KERNELS=scalar placed "kernels that every CPU can run"

step "a shard on each of three lcores, and links that drop, double, reorder and damage frames"
NET_IMPAIR='{rx: {drop: 0.005, duplicate: 0.005, reorder: 0.01, corrupt: 0.002}, tx: {drop: 0.005, reorder: 0.01}}' \
    net_swagg_config "$NET_DIR/swagg.yaml" "lcores:" "  - {rx: [h0, h1], tx: [h0, h1], aggregate: [0]}" \
    "  - {rx: [h2, h3], tx: [h2, h3], aggregate: [1]}" "  - {aggregate: [2]}"
net_swagg_start "$NET_DIR/swagg.yaml"
ranks_run impaired 4 --sizes 1,365,366,100003 --calls 40 --largest 100K
for lcore in 1 2 3; do
    [ "$(net_telemetry "/swagg/lcore,$lcore" gradients)" -gt 0 ] || fail "lcore $lcore aggregated nothing"
done

step "polling threads go before other programs"
if [ "$(nice)" -gt -10 ] && [ "$(nice -n -40 nice 2>/dev/null)" = -20 ]; then # which root may, unless it is confined
    expect_equal "their niceness" "$(ps -L -o ni=,comm= -p "$NET_SWAGG_PID" | awk '/rte-worker/ { print $1 }' | xargs)" "-10 -10 -10"
fi
net_swagg_stop
