#!/usr/bin/env bash
# Published SwitchML's RDMA clients: RoCE v2 writes are summed in the switch. The workers are written from the published layout alone, with
# the NIC of an unreliable connection, and compare every ICRC. Lossy links; two lcores; workers that are started anew.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

WORKERS=3 PAIRS=4
CLIENT=$(dirname "${BASH_SOURCE[0]}")/roce.py

roce_job() { # NAME SETTINGS
    local host workers=
    for ((host = 0; host < WORKERS; host++)); do
        workers+="{ip: $(net_ip "$host"), mac: \"$(net_mac "$host")\", rkey: $((0x7000 + host)), "
        workers+="queue_pairs: [$((0x100 * (host + 1)))-$((0x100 * (host + 1) + PAIRS - 1))]}, "
    done
    printf '  - {name: %s, %s, workers: [%s]}\n' "$1" "$2" "${workers%, }"
}

workers_start() { # PACKETS ELEMENTS SEED TENSOR...
    local rank
    RANK_PID=()
    for ((rank = 0; rank < WORKERS; rank++)); do
        net_background "$NET_DIR/rank$rank.log" ip netns exec "$NET_ID-h$rank" "$CLIENT" "$rank" "$WORKERS" "$(net_switch_ip)" "$NET_SWITCH_MAC" \
            "$PAIRS" "$@"
        RANK_PID[rank]=$!
    done
}

workers_run() { # PACKETS ELEMENTS SEED TENSOR...
    workers_start "$@"
    ranks_wait 120
    expect_equal "exit statuses of the workers ($(tail -qn 2 "$NET_DIR"/rank*.log))" "${RANK_STATUS[*]}" "0 0 0"
}

verdicts() { # NAME
    net_telemetry /swagg/verdicts "roce_$1"
}

runs() {
    net_telemetry /swagg/job,training epoch
}

# How long a silence the slots take for the end: a short one, once everybody is silent.
quiet_ms() { # MS
    sed -i "s/quiet_ms: [0-9]*/quiet_ms: $1/" "$NET_DIR/swagg.yaml"
    net_ctl reload >"$NET_DIR/reload.log"
}

net_begin roce
net_hosts 4

step "messages of four packets, lossy links, shards on two lcores"
NET_IMPAIR="{rx: {drop: 0.01, duplicate: 0.01, reorder: 0.005, reorder_by: 4}, tx: {drop: 0.01}}" \
    net_swagg_with "seed: 5" "$(sed -n '/^lcores:/,/^$/p' "$NET_ROOT/conf/separate-threads.yaml")" "roce:" "$(roce_job training "quiet_ms: 600000")"
workers_run 4 256 1 16 1 5
MESSAGES=$((16 + 1 + 5))
expect_equal "packets summed" "$(verdicts send_all)" $((4 * MESSAGES))
[ "$(verdicts send_one)" -gt 0 ] || fail "no sum was lost"
[ "$(verdicts drop_out_of_order)" -gt 0 ] || fail "no packet of a message was lost"
grep -q "[1-9][0-9]* messages sent again" "$NET_DIR"/rank?.log || fail "no worker sent anything again"
expect_match "the job" "$(net_ctl job training)" 'packets +4'
expect_match "its members" "$(net_ctl ranks training)" " 1 +joined +$(net_ip 1):4791"
net_swagg_stop

step "messages of one packet, from workers that are killed and start anew; a capture of it, in words"
net_swagg_with "seed: 6" "roce:" "$(roce_job training "message_elements: 64, packet_elements: 64, quiet_ms: 600000")"
workers_start 1 64 2 forever
sums_go_on 200
kill -KILL "${RANK_PID[@]}"
ranks_wait 10
quiet_ms 1000
net_until 60 "the slots start over" prints -eq 1 runs
quiet_ms 600000
"$NET_BUILD/swaggctl/swaggctl" --switch "$NET_ID" capture --job training --write "$NET_DIR/capture.pcapng" >"$NET_DIR/capture.log" 2>&1 &
capture=$!
net_until 20 "the capture has begun" test -s "$NET_DIR/capture.pcapng"
workers_run 1 64 3 20 5
kill -INT "$capture"
wait "$capture"
"$NET_BUILD/traffic/swagg-pcap" show "$NET_DIR/capture.pcapng" >"$NET_DIR/shown.log"
for words in "WRITE_ONLY_IMMEDIATE queue pair 0x810002 number [0-9]+ key 0x5 address 0x100000000200 length 256 slot 2 version 1 message" \
    "WRITE_ONLY_IMMEDIATE queue pair 0x000201 number 0 key 0x7001 "; do
    grep -Eq "$words" "$NET_DIR/shown.log" || fail "the capture has no $words"
done

step "what is no member's, or not as the job's, is dropped and told"
workers_start 1 32 4 1 # half as long
net_until 60 "it is told" grep -q "job training: .* roce_drop_bad_length: " "$NET_DIR"/swagg*.log
kill -KILL "${RANK_PID[@]}"
ranks_wait 10
net_exec 0 python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(bytes([0x0a]) + bytes(60), ('$(net_switch_ip)', 4791))"
strangers_are_counted() {
    [ "$(net_telemetry /swagg/drops roce_refused_no_write)" -gt 0 ]
}
net_until 10 "it is counted" strangers_are_counted
net_swagg_stop
