#!/usr/bin/env bash
# The same sums when the links lose, double, reorder and damage frames, in both directions of every port, each as a reload tells the
# switch.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg impaired

RANK_OPTIONS=()

# How often frames were impaired so, on all ports, in both directions.
hits() { # KIND
    local port direction sum=0
    for port in 0 1 2 3; do
        for direction in rx tx; do
            sum=$((sum + $(net_telemetry "/swagg/port,h$port" "${direction}_impaired_$1")))
        done
    done
    echo "$sum"
}

damaged() {
    net_telemetry /swagg/verdicts drop_bad_checksum
}

# Where the ranks send no UDP checksum, both sides must have found damage by their own.
damage_was_seen() { # BEFORE: what the switch had found by then
    [ "${RANK_OPTIONS[*]}" = "--checksum crc32c" ] || return 0
    [ "$(damaged)" -gt "$1" ] || fail "the switch has dropped nothing as damaged"
    grep -qE " [1-9][0-9]* damaged" "$NET_DIR"/rank*.log || fail "no rank has dropped anything as damaged"
}

# Runs collectives over impaired links; counters of the impairment must show that it was at work.
impaired() { # NAME IMPAIRMENT KIND...
    local name=$1 impairment=$2 kind damaged_before
    local -A before
    shift 2
    step "$name: $impairment"
    NET_IMPAIR="{rx: {$impairment}, tx: {$impairment}}" net_swagg_config "$NET_DIR/swagg.yaml" "seed: 7"
    net_ctl reload >"$NET_DIR/reload.log"
    damaged_before=$(damaged)
    for kind in "$@"; do
        before[$kind]=$(hits "$kind")
    done
    ranks_run "$name" 4 --sizes 1,2,365,366,50021,100003 --calls 60 --largest 100K --seed 11 "${RANK_OPTIONS[@]}"
    for kind in "$@"; do
        [ "$(hits "$kind")" -gt "${before[$kind]}" ] || fail "nothing was impaired: $kind"
    done
    damage_was_seen "$damaged_before"
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
net_swagg_stop
