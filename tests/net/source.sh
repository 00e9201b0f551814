#!/usr/bin/env bash
# The benchmark's source of traffic against swagg over memif: every sum is compared, bit by bit. And it must notice what is
# wrong: damaged sums, no such job.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/memif.sh
. "$NET_LIB/memif.sh"

PACKETS=10000 # enough that every slot is used often; bounded, since a slow machine takes its time
MEMIF_EAL=(--lcores "0@($(taskset -cp $$ | sed 's/.*: //'))" --no-huge --no-shconf -m 256)

# Runs the source against a switch with this job.
play() { # PORTS FRAME REPLAY [OPTION...]
    local ports=$1 frame=$2 replay=$3
    shift 3
    memif_config "$NET_DIR/swagg.yaml" "$ports" "$frame" "replay: [$replay]"
    net_swagg_start "$NET_DIR/swagg.yaml"
    memif_source_start "$ports" "$frame" --seconds 600 --warmup 0 --packets "$PACKETS" --check 1 --resend-ms 1000 \
        --json "$NET_DIR/source.json" "$@"
    dropped_full=$(net_telemetry /swagg/drops tx_full)
    net_swagg_stop || return 1
    memif_source_end
}

reported() { # KEY
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$NET_DIR/source.json" "$1"
}

# All sums come and are right.
sums() { # PORTS FRAME REPLAY [OPTION...]
    play "$@" || fail "the source failed: $(cat "$NET_DIR/source.log")"
    [ "$(reported answers)" -ge "$PACKETS" ] || fail "only $(reported answers) answers came"
    expect_equal "number of checked answers" "$(reported checked)" "$(reported answers)"
}

# It must fail, and say this.
notices() { # REGEX PORTS FRAME REPLAY [OPTION...]
    local words=$1
    shift
    refuses play "$@"
    expect_match "the source's words" "$(cat "$NET_DIR/source.log")" "$words"
}

net_begin source
step "two workers, float32, on arrival"
sums 1 1076 '{workers: 2, slots: 64}' --workers 2 --slots 64
step "eight workers, int32, an odd number of elements"
sums 1 192 '{workers: 8, slots: 16}' --workers 8 --slots 16 --type int32 -k 33
step "eight workers, maxima of bfloat16, in order"
sums 1 1518 '{workers: 8, slots: 16, ordered: true}' --workers 8 --slots 16 --type bfloat16 --op max
step "minima of doubles and where they are"
sums 1 1076 '{workers: 4}' --workers 4 --type float64 --op minloc
step "the published format, two workers on one host, no UDP checksum"
sums 1 1082 '{format: int32, chunk_bytes: 1024, one_host: true}' --format int32 --one-host --no-udp-checksum
step "fp16 with exponents"
sums 1 1076 '{format: fp16, workers: 4}' --format fp16 --workers 4
step "two jobs side by side, on a port each"
sums 2 1076 '{workers: 2}, {workers: 2, worker_mac: "02:00:00:00:01:03", worker_ip: 10.77.0.3}' --workers 2 --jobs 2
step "jumbo frames: 2240 elements, eight workers"
sums 1 9018 '{workers: 8, slots: 16}' --workers 8 --slots 16
step "jumbo frames in order, two workers"
sums 1 9018 '{workers: 2, slots: 16, ordered: true}' --workers 2 --slots 16
step "workers on several ports"
sums 3 256 '{workers: 6, slots: 16}' --workers 6 --slots 16
step "switched from port to port"
sums 2 64 '{}' --mode bridge
step "lost frames are sent again"
# More than there are slots, so that not even a fast machine comes to the end before the first of them is due.
MEMIF_IMPAIR='{rx: {drop_every: 100}, tx: {drop_every: 140}}' sums 1 1076 '{workers: 4}' --workers 4 --resend-ms 5
[ "$(reported resent)" -gt 0 ] || fail "nothing was sent again"
step "an open loop: frames at a rate, whatever comes back"
PACKETS=900 # hardly more than a ring holds, for on a busy machine the other side may stand still
sums 1 1076 '{workers: 4, slots: 32}' --workers 4 --slots 32 --rate 20000 --patience 120
expect_equal "frames offered a second" "$(reported offered_pps)" 20000.0
# What did not fit in the source's ring while it stood still has a name; nothing else is lost.
[ "$(reported lost)" -le "$dropped_full" ] || fail "$(reported lost) frames lost, of which tx_full explains $dropped_full"
PACKETS=10000
step "an open loop at full speed, in order, through a switch that drops"
MEMIF_IMPAIR='{rx: {drop_every: 500}, tx: {drop_every: 700}}' \
    sums 1 256 '{workers: 4, slots: 32, ordered: true, phases: 8}' --workers 4 --slots 32 --phases 8 --rate 0
[ "$(reported lost)" -gt 0 ] || fail "nothing was lost"
step "damaged sums are noticed"
MEMIF_IMPAIR='{tx: {corrupt_every: 100}}' notices 'a result with|WRONG sum' 1 1076 '{}'
step "so is a job that the switch does not have"
notices 'rejects our packets: it has no job 7' 1 1076 '{}' --job 7
# net_null receives frames without end, none of which is an answer. Takes this process's place.
into_the_void() { # OPTION...
    net_become "$NET_ID-sw" "$MEMIF_SOURCE" "${MEMIF_EAL[@]}" --no-pci --no-telemetry --log-level=error \
        --file-prefix="$NET_ID-void" --vdev=net_null0 -- --json "$NET_DIR/source.json" "$@"
}
step "frames that are no answers do not keep an open loop waiting"
expect_end 1 'no answers came' into_the_void --rate 1000 --warmup 0.1 --seconds 0.1 --patience 0.1
step "one that is stopped before it measures reports numbers, too"
net_background "$NET_DIR/void.log" into_the_void --warmup 3600
void=$!
heeds_signals() { # by its own handlers: the lowest digit has the bit of SIGINT
    grep -qx swagg-source "/proc/$void/comm" && grep -q '^SigCgt:.*[2367abef]$' "/proc/$void/status"
}
net_until 60 "it heeds signals" heeds_signals
kill -INT "$void"
wait "$void" || fail "it ended with status $?: $(cat "$NET_DIR/void.log")"
expect_equal "answers a second" "$(reported answers_pps)" 0.0
