#!/usr/bin/env bash
# Frames that are wrong in some way, from a member of a live job: each is dropped under its own counter; the job's sums
# stay right and nobody else notices.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Not net_af_packet: there the kernel puts fragments together before DPDK sees them.
NET_DEVICE=net_pcap begin_with_swagg malformed "timers: {lost_after_ms: 60000}"

malformed_beside() { # JOB [ARGUMENT...]
    step "$*: stands still in the middle of its collectives: rank 0 is stopped"
    ranks_start "$1" 4 --calls 200 --largest 5000 --pause 5 --mtu 1000 --slots 512 "${@:2}"
    for rank in 0 1 2 3; do
        rank_says 10 "$rank" open
    done
    kill -STOP "${RANK_PID[0]}"
    sleep 0.5 # what was under way arrives

    step "each malformed frame is counted under its own name, and under no other"
    net_exec 3 "$(dirname "${BASH_SOURCE[0]}")/malformed.py" "$NET_ID" "$NET_SWITCH_MAC" "$(net_switch_ip)" "$(net_ip 3)"

    step "the job goes on and its sums are right"
    kill -CONT "${RANK_PID[0]}"
    ranks_wait 60
    expect_equal "exit statuses of the ranks" "${RANK_STATUS[*]}" "0 0 0 0"
}

malformed_beside live
malformed_beside checked --checksum crc32c

net_swagg_stop
