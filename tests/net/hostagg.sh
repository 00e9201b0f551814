#!/usr/bin/env bash
# Host-addressed aggregation: what workers send to a host is summed in the switch, as real processes see it. Frames of 1516 bytes, with
# 366 floats; lossy links; a worker that is late; what is not to be summed passes on. And frames that may not be touched: copies of them.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PASSING=$(dirname "${BASH_SOURCE[0]}")/passing.py
LETTER=$(dirname "${BASH_SOURCE[0]}")/letter.py
WORKERS=3 HOST=3 ELEMENTS=366 SLOTS=16 FLOATS=20000 ARRAYS=3
JOB=(--workers "$WORKERS" --slots "$SLOTS" --elements "$ELEMENTS" --floats "$FLOATS" --arrays "$ARRAYS" --timeout 300)

hostagg_job() {
    local i workers=
    for ((i = 0; i < WORKERS; i++)); do
        workers+="{ip: $(net_ip "$i"), mac: \"$(net_mac "$i")\"}, "
    done
    printf '  - {name: gradients, slots: %d, elements: %d, host: {ip: %s, mac: "%s", port: 5000}, workers: [%s]}\n' \
        "$SLOTS" "$ELEMENTS" "$(net_ip "$HOST")" "$(net_mac "$HOST")" "${workers%, }"
}

clone_job() {
    printf '  - {name: passing, host: "%s", workers: ["%s", "%s"], match: "01", sequence_at: 16, quiet_ms: 600000, ' "$(net_mac "$HOST")" "$(net_mac 0)" \
        "$(net_mac 1)"
    printf 'collector: {ip: %s, mac: "%s", port: 6000}}\n' "$(net_ip "$HOST")" "$(net_mac "$HOST")"
}

program_start() { # HOST PROGRAM [ARGUMENT...]
    local host=$1
    net_background "$NET_DIR/rank$host.log" ip netns exec "$NET_ID-h$host" "$NET_BUILD/traffic/swagg-hostagg-$2" "${JOB[@]}" "${@:3}"
    RANK_PID[host]=$!
}

worker_start() { # WORKER RUN [ARGUMENT...]
    program_start "$1" worker --host "$(net_ip "$HOST"):5000" --worker "$1" --run "$2" "${@:3}"
}

all_are_right() {
    ranks_wait 300
    expect_equal "exit statuses of workers and host ($(tail -qn 3 "$NET_DIR"/rank*.log))" "${RANK_STATUS[*]}" "0 0 0 0"
}

run_all() { # RUN
    local i
    program_start "$HOST" host --switch "$(net_switch_ip)" --run "$1"
    for ((i = 0; i < WORKERS; i++)); do
        worker_start "$i" "$1"
    done
    all_are_right
}

# Sends a letter from host 0 until one has come to the host: links lose some.
letter() { # UDP PORT BYTES
    local host reader
    host=$(net_ip "$HOST")
    ip netns exec "$NET_ID-h$HOST" timeout 300 python3 "$LETTER" read 5000 "$2" &
    reader=$!
    net_until 60 "the letter has come" sh -c "
        ip netns exec $NET_ID-h0 python3 $LETTER write $1 $2 $host 5000
        ! kill -0 $reader"
    wait "$reader"
}

# Both thread organisations of the paper, as the examples have them. Wherever a thread of theirs has received or is to send it, only those
# that aggregate may touch a gradient.
lcores_of() { # EXAMPLE
    sed -n '/^lcores:/,/^$/p' "$NET_ROOT/conf/$1.yaml"
}

switch_start() { # EXAMPLE
    NET_IMPAIR="{rx: {drop: 0.01, duplicate: 0.01, reorder: 0.02, reorder_by: 8}, tx: {drop: 0.01, duplicate: 0.01}}" \
        net_swagg_with "mtu: 1502" "seed: 7" "hostagg:" "$(hostagg_job)" "clone:" "$(clone_job)" \
        "$(lcores_of "$1")"
}

only_these_aggregate() { # LCORES LCORE...: of so many in all
    local lcore gradients
    for ((lcore = 1; lcore <= $1; lcore++)); do
        gradients=$(net_telemetry "/swagg/lcore,$lcore" gradients)
        if [[ " ${*:2} " == *" $lcore "* ]]; then
            [ "$gradients" -gt 0 ] || fail "lcore $lcore aggregated nothing"
        else
            expect_equal "gradients aggregated by lcore $lcore" "$gradients" 0
        fi
    done
}

# Frames that may not be touched, of two workers: one of them lacks a frame at first.
frames_pass() {
    local reader frames=100
    net_background "$NET_DIR/passing.log" ip netns exec "$NET_ID-h$HOST" timeout 300 python3 "$PASSING" receive eth0 2 "$frames"
    reader=$!
    net_until 20 "the host listens" grep -q listens "$NET_DIR/passing.log"
    net_exec 0 python3 "$PASSING" send eth0 "$(net_mac "$HOST")" 0 "$frames"
    net_exec 1 python3 "$PASSING" send eth0 "$(net_mac "$HOST")" 1 "$frames" 42
    net_until 20 "all others are summed" prints -ge $((frames - 1)) copies send_sum
    net_until 20 "the missing one is reported" prints -ge 1 copies send_missing
    expect_match "what the slots wait for" "$(net_ctl slots passing)" ' 42 +42 +1 +1'
    net_exec 1 python3 "$PASSING" send eth0 "$(net_mac "$HOST")" 1 "$frames"
    net_until 20 "it is summed, too" prints -ge "$frames" copies send_sum
    wait "$reader" || fail "$(cat "$NET_DIR/passing.log")"
    expect_equal "sums" "$(copies send_sum)" "$frames"
    expect_match "sums, to be read" "$(net_ctl sums passing)" ' 99 +1198,1200,1202,'
    expect_match "the workers" "$(net_ctl ranks passing)" "1 +joined +02:00:00:00:01:02"
}

verdicts() { # NAME
    net_telemetry /swagg/verdicts "hostagg_$1"
}

copies() { # NAME
    net_telemetry /swagg/verdicts "clone_$1"
}

net_begin hostagg
net_hosts 4 1502
switch_start separate-threads

step "P + 2X threads: three workers and a host, lossy links; one worker is late"
program_start "$HOST" host --switch "$(net_switch_ip)" --run 1
worker_start 0 1
worker_start 1 1
only_one_is_missing() {
    grep -Eq ' 2 +2' <(net_ctl slots gradients)
}
net_until 60 "slots wait for worker 2 alone" only_one_is_missing
names_worker_2() { # a worker says it once, after a second, as far as it knows: another one, if worker 1 or the switch stood still then
    net_until 60 "worker 0 waits" grep -q "waits: chunk 0 " "$NET_DIR/rank0.log"
    ! grep -q "waits: chunk 0 waits for worker 2$" "$NET_DIR/rank0.log" || return 0
    kill "${RANK_PID[0]}"
    wait "${RANK_PID[0]}" || true
    worker_start 0 1
    return 1
}
net_until 60 "worker 0 waits for worker 2" names_worker_2
worker_start 2 1
all_are_right
CHUNKS=$((ARRAYS * ((FLOATS + ELEMENTS - 1) / ELEMENTS)))
expect_equal "chunks summed" "$(verdicts send_all)" "$CHUNKS"
expect_match "what the host says" "$(rank_log "$HOST")" "$CHUNKS chunks are complete; .* 0 gradients came through"
[ "$(verdicts send_answer)" -gt 0 ] || fail "nothing was lost that somebody asked for"
grep -q "[1-9][0-9]* of them again" "$NET_DIR"/rank[012].log || fail "no worker sent anything again"
expect_match "the job" "$(net_ctl job gradients)" 'type +float32'
expect_match "its members" "$(net_ctl ranks gradients)" " 3 +joined +$(net_ip "$HOST"):5000"

step "captures of it, in words"
"$NET_BUILD/swaggctl/swaggctl" --switch "$NET_ID" capture --job gradients --write "$NET_DIR/capture.pcapng" >"$NET_DIR/capture.log" 2>&1 &
capture=$!
net_until 20 "the capture has begun" test -s "$NET_DIR/capture.pcapng"
run_all 2
kill -INT "$capture"
wait "$capture"
"$NET_BUILD/traffic/swagg-pcap" show --hostagg 5000 "$NET_DIR/capture.pcapng" >"$NET_DIR/shown.log"
for kind in "GRADIENT job 0 worker 1 run 2 chunk [0-9]+ 366 float32: " "SUM job 0 run 2 chunk [0-9]+ 366 float32: " "DONE job 0 run 2"; do
    grep -Eq "$kind" "$NET_DIR/shown.log" || fail "the capture has no $kind"
done

step "what is not to be summed passes to the host"
letter 4999 0100 # it looks like a gradient, but is no worker's
letter 4000 0900
[ "$(verdicts passed_foreign_sender)" -gt 0 ] || fail "a stranger was taken for a worker"
[ "$(verdicts passed_not_ours)" -gt 0 ] || fail "a letter was taken for a gradient"

step "frames that may not be touched pass as they came, and are summed; a copy is missing"
frames_pass
only_these_aggregate 6 5 6

step "the switch is killed; the next run goes through the new one, of 2P + X threads"
program_start "$HOST" host --switch "$(net_switch_ip)" --run 3 --arrays 100000
for ((i = 0; i < WORKERS; i++)); do worker_start "$i" 3 --arrays 100000; done
rank_says 60 "$HOST" "array 3 is complete"
net_swagg_kill
for i in "${!RANK_PID[@]}"; do kill "${RANK_PID[i]}"; done
ranks_wait 60
switch_start split-rx-tx
run_all 4
frames_pass
only_these_aggregate 9 9
net_swagg_stop
