#!/usr/bin/env bash
# The same sums when the links lose, double, reorder and damage frames, in both directions of every port.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin impaired
net_hosts 4

RANK_OPTIONS=()

# Where the ranks send no UDP checksum, both sides must have found damage by their own.
damage_was_seen() {
    [ "${RANK_OPTIONS[*]}" = "--checksum crc32c" ] || return 0
    [ "$(net_telemetry /swagg/verdicts drop_bad_checksum)" -gt 0 ] || fail "the switch has dropped nothing as damaged"
    grep -qE " [1-9][0-9]* damaged" "$NET_DIR"/rank*.log || fail "no rank has dropped anything as damaged"
}

# Runs collectives over impaired links; counters of the impairment must show that it was at work.
impaired() { # NAME IMPAIRMENT KIND...
    local name=$1 impairment=$2 kind port hits
    shift 2
    step "$name: $impairment"
    NET_IMPAIR="{rx: {$impairment}, tx: {$impairment}}" net_swagg_with "seed: 7"
    ranks_run "$name" 4 --sizes 1,2,365,366,50021,200K --calls 60 --largest 100K --seed 11 "${RANK_OPTIONS[@]}"
    for kind in "$@"; do
        hits=0
        for port in 0 1 2 3; do
            hits=$((hits + $(net_telemetry "/swagg/port,h$port" "rx_impaired_$kind")))
            hits=$((hits + $(net_telemetry "/swagg/port,h$port" "tx_impaired_$kind")))
        done
        [ "$hits" -gt 0 ] || fail "nothing was impaired: $kind"
    done
    damage_was_seen
    net_swagg_stop
}

impaired loss-permille "drop: 0.001" drop
impaired loss-percent "drop: 0.01" drop
impaired duplication "duplicate: 0.02" duplicate
impaired reordering "reorder: 0.02, reorder_by: 8" reorder
impaired corruption "corrupt: 0.01" corrupt
impaired everything "drop: 0.01, duplicate: 0.01, reorder: 0.01, corrupt: 0.01" drop duplicate reorder corrupt

RANK_OPTIONS=(--checksum crc32c)
impaired corruption-without-udp-checksums "corrupt: 0.01" corrupt
impaired everything-without-udp-checksums "drop: 0.01, duplicate: 0.01, reorder: 0.01, corrupt: 0.01" drop duplicate reorder corrupt
