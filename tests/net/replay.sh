#!/usr/bin/env bash
# Captures of workers' streams, read by the switch itself (net_pcap), and its answers checked: every type and format, sums on
# arrival and in order, and a capture that starts over.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PCAP=$NET_BUILD/traffic/swagg-pcap

# Every frame brings one result in the end.
all_answered() { # FRAMES
    [ "$(net_telemetry /swagg/counters results)" -eq "$1" ]
}

# Generates a capture, appends it to itself, has swagg answer it, and checks the answers.
replays() { # TIMES REPLAY GEN-OPTION...
    local times=$1 replay=$2 format=() i
    shift 2
    [[ " $* " != *" --published "* ]] || format=(--published)
    "$PCAP" gen -o "$NET_DIR/once.pcap" "$@"
    cp "$NET_DIR/once.pcap" "$NET_DIR/sent.pcap"
    for ((i = 1; i < times; i++)); do
        tail -c +25 "$NET_DIR/once.pcap" >>"$NET_DIR/sent.pcap" # without the file's header
    done
    cat >"$NET_DIR/replay.yaml" <<END
ports: [{device: "net_pcap0,rx_pcap=$NET_DIR/sent.pcap,tx_pcap=$NET_DIR/answers.pcap"}]
switch: {mac: "02:00:00:00:01:fe", ip: 10.77.0.254}
mtu: ${MTU:-1500}
replay: [$replay]
END
    net_swagg_start "$NET_DIR/replay.yaml"
    expect_equal "the jobs" "$(net_telemetry /swagg/jobs jobs/name 0)" 'replay[0]'
    expect_equal "its members" "$(net_telemetry '/swagg/job,replay[0]' missing | xargs)" '[]'
    net_until 20 "every packet is answered" all_answered "$(("$("$PCAP" show "$NET_DIR/sent.pcap" | wc -l)"))"
    net_swagg_stop
    "$PCAP" check --complete "${format[@]}" "$NET_DIR/sent.pcap" "$NET_DIR/answers.pcap"
}

net_begin replay
step "every type"
for type in int32 int64 float32 float64; do
    replays 1 '{}' --type "$type" -k 128
done
step "ordered sums, eight workers on one host"
replays 1 '{workers: 8, ordered: true, one_host: true}' -n 8 --one-host
step "one slot"
replays 1 '{slots: 1}' -s 1
step "one worker"
replays 1 '{workers: 1}' -n 1
step "the published format"
replays 1 '{published: true, chunk_bytes: 1024}' --published
step "workers at other addresses"
replays 1 '{worker_mac: "02:00:00:00:07:01", worker_ip: 10.77.0.9, worker_port: 31000}' \
    --worker 02:00:00:00:07:01/10.77.0.9:31000
step "a capture that starts over"
replays 5 '{workers: 3, slots: 16, phases: 8}' -n 3 -s 16 -p 8 --frame 1518
step "the smallest frames"
replays 1 '{}' --frame 64
step "jumbo frames"
MTU=9000 replays 1 '{}' --frame 9018
