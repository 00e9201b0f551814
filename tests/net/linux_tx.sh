#!/usr/bin/env bash
# Ports on kernel interfaces send runs of results, and what the kernel has merged on its way in, with one pass through the
# kernel, which cuts them into real frames.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")
WATCH_PID=()

begin_with_swagg linux_tx "tx_delay_us: 200"

received_by_host() { # FIELD
    ip -n "$NET_ID-h0" -j -s link show dev eth0 | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['stats64']['rx']['$1'])"
}

sent_to_host() { # FIELD
    net_telemetry /swagg/port,h0 "tx_$1"
}

errors_at_host() { # COUNTER
    net_exec 0 nstat -asz "$1" | awk -v name="$1" '$1 == name { print $2 }'
}

all_are_there() {
    [ "$(received_by_host packets)" = "$(sent_to_host frames)" ] && [ "$(received_by_host bytes)" = "$(sent_to_host bytes)" ]
}

# A bulk transfer from h1 to h0; what receiver and sender have hashed is in bulk and bulk.sent.
bulk() { # MEBIBYTES
    net_exec 0 "$here/bulk.py" receive 5001 >"$NET_DIR/bulk" &
    net_exec 1 "$here/bulk.py" send "$(net_ip 0)" 5001 "$1" >"$NET_DIR/bulk.sent"
    net_until 30 "the receiver has its sum" test -s "$NET_DIR/bulk"
}

watch_flow() { # HOST
    net_background "$NET_DIR/flow$1.log" ip netns exec "$NET_ID-h$1" "$here/flow.py" 5001 "$NET_DIR/flow$1"
    WATCH_PID[$1]=$!
    net_until 10 "h$1 watches" grep -q listens "$NET_DIR/flow$1.log"
}

# A transfer that h0 and h1 watch; flow0 and flow1 tell its frames.
watched_bulk() { # MEBIBYTES
    local host
    watch_flow 0
    watch_flow 1
    bulk "$1"
    expect_equal "hash at h0" "$(cat "$NET_DIR/bulk")" "$(cat "$NET_DIR/bulk.sent")"
    for host in 0 1; do # in this order: what h0 has seen, h1 has sent before
        kill "${WATCH_PID[host]}"
        wait "${WATCH_PID[host]}"
    done
}

# IPv4 identifications that pass 0 where merged frames begin look like a sender's that writes 0 (docs/correctness.md).
count_passes_zero() {
    awk '$4 == "0000" { found = 1 } END { exit !found }' "$NET_DIR/flow1"
}

step "sums are right"
ranks_run runs 4 --sizes 1,359,100003,300003 --calls 8

step "as many frames and bytes arrive as the switch has sent"
net_until 5 "what the switch counts has arrived" all_are_there

step "kernels that segment UDP get runs"
kernel_merges=no
if [ "$(printf '6.2\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.2 ]; then
    kernel_merges=yes
    [ "$(sent_to_host merged)" -gt 1000 ] || fail "only $(sent_to_host merged) of $(sent_to_host frames) frames merged"
else
    expect_equal "frames merged by a kernel that cannot" "$(sent_to_host merged)" 0
fi

step "TCP segments that came merged go on merged, and arrive as they were sent, byte for byte"
before=$(sent_to_host merged)
watched_bulk 8
for _ in {1..5}; do
    count_passes_zero || break
    watched_bulk 8
done
[ $(($(sent_to_host merged) - before)) -gt 1000 ] || fail "only $(($(sent_to_host merged) - before)) TCP segments merged"
comm -13 <(sort "$NET_DIR/flow1") <(sort "$NET_DIR/flow0") >"$NET_DIR/strange.log"
grep -wFf <(cut -d ' ' -f 5 "$NET_DIR/strange.log") "$NET_DIR/flow1" >"$NET_DIR/instead.log" || true # what h1 has sent in their place
expect_equal "frames that nobody has sent so (strange.log, instead.log)" "$(wc -l <"$NET_DIR/strange.log")" 0
refuses grep wrong "$NET_DIR/flow0"
longest=$(awk '{ print $2 }' "$NET_DIR/flow0" | sort -n | tail -n 1)
[ "$longest" -eq 1514 ] || fail "the longest frame has $longest bytes"

step "while a port is impaired all frames are cut; once none is, they go on merged again"
grow_merged() { # MEBIBYTES: TCP segments of so much that went on merged
    local before
    before=$(sent_to_host merged)
    bulk "$1"
    expect_equal "hash at h0" "$(cat "$NET_DIR/bulk")" "$(cat "$NET_DIR/bulk.sent")"
    grown=$(($(sent_to_host merged) - before))
}
net_ctl impair set h3 rx drop_every=1000000000
grow_merged 2
expect_equal "TCP segments merged beside an impaired port" "$grown" 0
net_ctl impair clear h3
grow_merged 8
[ "$grown" -gt 1000 ] || fail "only $grown TCP segments merged after the impairments"

step "while what a port sends is impaired, it sends no runs; then it does again"
runs() { # JOB: its frames to h0 that went in runs
    local before
    before=$(sent_to_host merged)
    ranks_run "$1" 4 --sizes 100003,300003 --calls 4
    grown=$(($(sent_to_host merged) - before))
}
net_ctl impair set h0 tx duplicate_every=50
runs impaired
expect_equal "frames merged on an impaired port" "$grown" 0
net_ctl impair clear h0
runs again
if [ "$kernel_merges" = yes ]; then
    [ "$grown" -gt 500 ] || fail "only $grown frames merged after the impairments"
fi

step "damaged segments arrive damaged, and are sent again"
net_swagg_stop
NET_IMPAIR='{rx: {corrupt: 0.01}}' net_swagg_with "tx_delay_us: 200"
bulk 8
expect_equal "hash at h0" "$(cat "$NET_DIR/bulk")" "$(cat "$NET_DIR/bulk.sent")"
[ "$(errors_at_host TcpInCsumErrors)" -gt 0 ] || fail "no host has seen a damaged segment"
for host in 0 1 2 3; do
    net_ctl impair clear "h$host"
done
grow_merged 8
[ "$grown" -gt 1000 ] || fail "only $grown TCP segments merged once the configuration's impairments were cleared"

step "frames that may be damaged are sent as they are"
net_swagg_stop
NET_IMPAIR='{tx: {corrupt: 0.01}}' net_swagg_with "tx_delay_us: 200"
ranks_run damaged 4 --sizes 100003 --calls 4
expect_equal "frames merged on an impaired port" "$(sent_to_host merged)" 0
[ "$(errors_at_host UdpInCsumErrors)" -gt 0 ] || fail "no host has seen a damaged frame"
for host in 0 1 2 3; do
    net_ctl impair clear "h$host"
done
runs mended
if [ "$kernel_merges" = yes ]; then
    [ "$grown" -gt 500 ] || fail "only $grown frames merged once the configuration's impairments were cleared"
fi

net_swagg_stop
