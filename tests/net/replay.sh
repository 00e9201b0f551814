#!/usr/bin/env bash
# Captures of workers' streams, read by the switch itself (net_pcap), and its answers checked: every type, operation and format,
# on arrival and in order, and a capture that starts over.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PCAP=$NET_BUILD/traffic/swagg-pcap

# Every frame brings one result in the end.

# Has swagg answer what is in sent.pcap, and checks the answers.
answers() { # REPLAYS [CHECK-OPTION...]
    local replays=$1
    shift
    cat >"$NET_DIR/replay.yaml" <<END
ports: [{device: "net_pcap0,rx_pcap=$NET_DIR/sent.pcap,tx_pcap=$NET_DIR/answers.pcap"}]
switch: {mac: "02:00:00:00:01:fe", ip: 10.77.0.254}
mtu: ${MTU:-1500}
memory: {mode: no-huge}
replay: [$replays]
END
    net_swagg_start "$NET_DIR/replay.yaml"
    expect_equal "the jobs" "$(net_telemetry /swagg/jobs jobs/name 0)" 'replay[0]'
    expect_equal "its members" "$(net_telemetry '/swagg/job,replay[0]' missing | xargs)" '[]'
    net_until 20 "every packet is answered" prints -eq "$(("$("$PCAP" show "$NET_DIR/sent.pcap" | wc -l)"))" net_telemetry /swagg/counters results
    net_swagg_stop
    "$PCAP" check --complete "$@" "$NET_DIR/sent.pcap" "$NET_DIR/answers.pcap"
}

# Generates a capture and appends it to itself.
replays() { # TIMES REPLAY GEN-OPTION...
    local times=$1 replay=$2 format=() i
    shift 2
    [[ " $* " != *" --format "* ]] || format=(--format "$(sed -E 's/.*--format ([a-z0-9]+).*/\1/' <<<"$*")")
    "$PCAP" gen -o "$NET_DIR/once.pcap" "$@"
    cp "$NET_DIR/once.pcap" "$NET_DIR/sent.pcap"
    for ((i = 1; i < times; i++)); do
        tail -c +25 "$NET_DIR/once.pcap" >>"$NET_DIR/sent.pcap" # without the file's header
    done
    answers "$replay" "${format[@]}"
}

# A job of its own for each, all in one capture.
every_pair() { # KEYS TYPE-OPERATION...
    local keys=$1 job=0 replays='' pair
    shift
    for pair; do
        "$PCAP" gen -o "$NET_DIR/once.pcap" --type "${pair%-*}" --op "${pair#*-}" -k 64 --job "$job" \
            --worker "02:00:00:00:01:01/10.77.0.1:$((31000 + job))"
        tail -c +$((job == 0 ? 1 : 25)) "$NET_DIR/once.pcap" >"$NET_DIR/part.pcap"
        if [ "$job" -eq 0 ]; then mv "$NET_DIR/part.pcap" "$NET_DIR/sent.pcap"; else cat "$NET_DIR/part.pcap" >>"$NET_DIR/sent.pcap"; fi
        replays+="{worker_port: $((31000 + job))$keys}, "
        job=$((job + 1))
    done
    answers "$replays"
}

net_begin replay
pairs=(int8-bxor int16-minloc int32-maxpair int64-lor uint8-band uint16-bor uint32-land uint64-max bool-lxor float16-min
    bfloat16-avg float32-maxloc float64-minpair complex64-sum complex128-prod)
step "every type and every operation, on arrival"
every_pair '' "${pairs[@]}"
step "the same in order"
every_pair ', ordered: true' "${pairs[@]}"
step "ordered sums, eight workers on one host"
replays 1 '{workers: 8, ordered: true, one_host: true}' -n 8 --one-host
step "one slot"
replays 1 '{slots: 1}' -s 1
step "one worker"
replays 1 '{workers: 1}' -n 1
step "the published format: made up, and a tensor of floats"
replays 1 '{format: int32, chunk_bytes: 1024}' --format int32
replays 1 '{format: int32, chunk_bytes: 1024}' --format int32 --tensor
step "fp16 with exponents, likewise"
replays 1 '{format: fp16}' --format fp16 -k 100
replays 1 '{format: fp16, ordered: true}' --format fp16 -k 730 --tensor
step "workers at other addresses"
replays 1 '{worker_mac: "02:00:00:00:07:01", worker_ip: 10.77.0.9, worker_port: 31000}' \
    --worker 02:00:00:00:07:01/10.77.0.9:31000
step "a capture that starts over"
replays 5 '{workers: 3, slots: 16, phases: 8}' -n 3 -s 16 -p 8 --frame 1518
step "the smallest frames"
replays 1 '{}' --frame 64
step "jumbo frames"
MTU=9000 replays 1 '{}' --frame 9018
