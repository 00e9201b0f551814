#!/usr/bin/env bash
# Frames that are wrong in some way, from a member of a live job: each is dropped under its own counter; the job's sums
# stay right and nobody else notices.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The job waits, and its rank that is stopped is not lost, for as long as a busy machine takes for all frames.
PATIENT=600000 # ms; lost_after_ms may not be more
begin_with_swagg malformed "timers: {lost_after_ms: $PATIENT}"

# Host 3's link carries longer frames than the switch is to take.
ip -n "$NET_ID-h3" link set eth0 mtu 2000
ip -n "$NET_ID-sw" link set p3 mtu 2000

# Some slots are collecting, each lacks rank 0 alone, and they are the same as when last asked.
slots_before=
only_rank_0_is_missing() { # JOB
    local before=$slots_before
    slots_before=$(net_ctl --no-header --only slot,tag,missing slots "$1")
    [ -n "$slots_before" ] && [ "$slots_before" = "$before" ] && ! grep -qv ' 0$' <<<"$slots_before"
}

malformed_beside() { # JOB [ARGUMENT...]
    local rank arguments=(4 --calls 40 --largest 5000 --mtu 1000 --slots 512 --call-timeout "$PATIENT" "${@:2}")
    step "$*: stands still in the middle of its collectives: rank 0 is stopped"
    rank_start "$1" 0 "${arguments[@]}" --stop-before 20
    for rank in 1 2 3; do
        rank_start "$1" "$rank" "${arguments[@]}"
    done
    net_until 10 "rank 0 stops itself" is_stopped 0
    net_until 10 "the others wait for it" only_rank_0_is_missing "$1"

    step "each malformed frame is counted under its own name, and under no other"
    net_exec 3 "$(dirname "${BASH_SOURCE[0]}")/malformed.py" "$NET_ID" "$NET_SWITCH_MAC" "$(net_switch_ip)" "$(net_ip 3)"

    step "the job goes on and its sums are right"
    kill -CONT "${RANK_PID[0]}"
    ranks_succeed 60
}

malformed_beside live

step "who claimed the switch's address is named, and nobody believed it"
net_until 10 "the log names it" grep -q "warning: station 02:00:00:00:01:04 on port h3 uses the switch's IP address" "$NET_DIR/swagg.log"
expect_match "what h0 knows" "$(ip -n "$NET_ID-h0" neigh show "$(net_switch_ip)")" "$NET_SWITCH_MAC"

malformed_beside checked --checksum crc32c

net_swagg_stop

# No kernel device sends a frame without a whole Ethernet header, so a capture brings these.
step "frames that are shorter than an Ethernet header, and one that is nothing else"
frames_of() { # BYTES...: a capture of frames of ones
    local n
    printf '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0'
    for n; do
        # shellcheck disable=SC2059 # the length, twice, as a byte of the format
        printf "\\0\\0\\0\\0\\0\\0\\0\\0\\x$(printf %x "$n")\\0\\0\\0\\x$(printf %x "$n")\\0\\0\\0"
        head -c "$n" /dev/zero | tr '\0' '\1'
    done
}
frames_of 1 12 13 14 >"$NET_DIR/short.pcap"
cat >"$NET_DIR/short.yaml" <<END
ports: [{device: "net_pcap0,rx_pcap=$NET_DIR/short.pcap,tx_pcap=$NET_DIR/sent.pcap"}]
switch: {mac: "$NET_SWITCH_MAC", ip: $(net_switch_ip)}
memory: {mode: no-huge}
END
net_swagg_start "$NET_DIR/short.yaml"
net_until 5 "all have come" prints -eq 4 net_telemetry /swagg/counters received
expect_equal "drops" "$(net_telemetry /swagg/drops | grep -v ': 0' | xargs)" "{ runt: 3, bad_source: 1, }"
net_swagg_stop
