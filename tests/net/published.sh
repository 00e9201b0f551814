#!/usr/bin/env bash
# Published SwitchML clients, which do not join: a static job of the configuration. The workers are written from the packets'
# layout alone, and know nothing of swagg. Lossy links; clients that are killed and started again.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

WORKERS=4 THREADS=4 WINDOW=8 ELEMENTS=64
CLIENT=$(dirname "${BASH_SOURCE[0]}")/published.py

static_job() { # NAME PORT SETTINGS
    local host workers=
    for ((host = 0; host < WORKERS; host++)); do
        workers+="{ip: $(net_ip "$host"), mac: \"$(net_mac "$host")\", port: $2}, "
    done
    printf '  - {name: %s, slots: %d, elements: %d, %s, workers: [%s]}\n' "$1" $((2 * WINDOW)) "$ELEMENTS" "$3" "${workers%, }"
}

# One worker a host; they run until they have summed everything, or for ever if they are alone.
clients_start() { # PORT THREADS SEED TENSOR...
    local rank
    RANK_PID=()
    for ((rank = 0; rank < WORKERS; rank++)); do
        net_background "$NET_DIR/rank$rank.log" ip netns exec "$NET_ID-h$rank" "$CLIENT" "$rank" "$WORKERS" "$(net_switch_ip)" "$1" "$2" \
            "$WINDOW" "$ELEMENTS" "${@:3}"
        RANK_PID[rank]=$!
    done
}

clients_run() { # PORT THREADS SEED TENSOR...
    clients_start "$@"
    ranks_wait 300
    expect_equal "exit statuses of the clients ($(cat "$NET_DIR"/rank*.log | tail -n 3))" "${RANK_STATUS[*]}" "0 0 0 0"
}

# How many times the job's slots have started over.
runs() {
    net_telemetry /swagg/job,training epoch
}


# A short silence is enough, now that everybody is silent.
start_over() { # TIMES
    sed -i 's/quiet_ms: 600000/quiet_ms: 1000/' "$NET_DIR/swagg.yaml"
    expect_match "what swaggctl tells" "$(net_ctl reload)" 'static\[training\].quiet_ms'
    net_until 60 "the slots start over" prints -eq "$1" runs
    sed -i 's/quiet_ms: 1000/quiet_ms: 600000/' "$NET_DIR/swagg.yaml"
    expect_match "what swaggctl tells" "$(net_ctl reload)" 'static\[training\].quiet_ms'
}

# From this host's port: the first packet of a client that is not in the configuration.
stranger() { # HOST PORT
    net_exec "$1" python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', $2))
for tensor in range(256):
    s.sendto(bytes([0x11, tensor]) + bytes(8 + 4 * $ELEMENTS), ('$(net_switch_ip)', 48864))
"
}

strangers_were_dropped() {
    [ "$(net_telemetry /swagg/drops sml_foreign_sender)" -gt 0 ] && [ "$(net_telemetry /swagg/drops sml_unknown_job)" -gt 0 ]
}

# The client of a job whose slots are too few waits for ever; the log says why.
too_few_is_told() {
    grep -q "job narrow: .* drop_bad_slot: .*max_outstanding_packets" "$NET_DIR"/swagg*.log
}

net_begin published
net_hosts 4
NET_IMPAIR="{rx: {drop: 0.01, duplicate: 0.02, reorder: 0.02, reorder_by: 8}, tx: {drop: 0.01, duplicate: 0.02}}" \
    net_swagg_with "seed: 5" "tenants: [{name: lab, addresses: [0.0.0.0/0], quota: {jobs: 1}}]" "static:" "$(static_job training 4000 "threads: $THREADS, quiet_ms: 600000")" \
    "$(static_job other 5000 "mode: ordered, udp_checksum: true")" \
    "$(static_job narrow 6000 "threads: 1" | sed "s/slots: [0-9]*,/slots: $((WINDOW / 2)),/")"
FLOATS=(f9000 f1 i5000 f300 i77 f2048 f4096 i1 f9000)

step "four threads a worker, floats as int32 with exponents, lossy links"
expect_equal "the jobs" "$(net_telemetry /swagg/jobs jobs/name | xargs)" "[ training, other, narrow ]"
clients_run 4000 "$THREADS" 1 "${FLOATS[@]}"
[ "$(net_telemetry /swagg/verdicts send_one)" -gt 0 ] || fail "no result was lost"

step "a job that an operator adds, and that is in no file"
workers=
for ((host = 0; host < WORKERS; host++)); do
    workers+="{\"ip\": \"$(net_ip "$host")\", \"mac\": \"$(net_mac "$host")\", \"port\": 7000}, "
done
add_job() { # NAME SETTINGS...
    net_ctl job add "$1" "workers=[${workers%, }]" elements=$ELEMENTS "${@:2}" 2>&1
}
expect_match "why it is not added" "$(add_job added slots=0)" 'static\[0\].slots: 0 is out of range'
expect_match "why it is not added" "$(add_job training)" 'there is a job of this name'
add_job added slots=$((2 * WINDOW)) tenant=lab
expect_match "why another is not added" "$(add_job second)" "the UDP ports from 7000 on of .* are job added's"
expect_match "why its tenant has no more" "$(workers=${workers//7000/8000} add_job second tenant=lab)" 'lab has 1 jobs, as many as its quota.jobs'
expect_match "why a job of the file is not deleted" "$(net_ctl job del other 2>&1)" 'was not added by an operator'
expect_match "why it is not killed" "$(net_ctl job kill added 2>&1)" 'nobody joins job added: .* job del added'
clients_run 7000 1 8 f2000 i1000
clients_start 7000 1 9 f300 forever
sums_go_on 200
net_ctl reload >"$NET_DIR/reload.log" # the job outlives that
sums_go_on 200
kill -KILL "${RANK_PID[@]}"
ranks_wait 10
net_ctl job del added
expect_equal "the jobs" "$(net_telemetry /swagg/jobs jobs/name | xargs)" "[ training, other, narrow ]"

step "another job from the same hosts, strangers beside it"
stranger 0 4004
stranger 1 3999
clients_run 5000 1 2 f3000 i3000 f3000
net_until 10 "the strangers were dropped" strangers_were_dropped
expect_equal "answers to strangers" "$(net_telemetry /swagg/counters rejects)" 0

step "a job with too few slots for its clients"
clients_start 6000 1 6 i3000
net_until 60 "it is told" too_few_is_told
[ "$(net_telemetry /swagg/job,narrow amiss)" -gt 0 ] || fail "swaggctl does not say so"
[ "$(net_telemetry /swagg/drops drop_bad_slot)" -gt 0 ] || fail "nor does it of all drops"
kill -KILL "${RANK_PID[@]}"
ranks_wait 10

step "the clients start again"
start_over 1
clients_run 4000 "$THREADS" 3 "${FLOATS[@]}"

step "the clients are killed and start again"
start_over 2
clients_start 4000 "$THREADS" 4 f3000 i1000 forever
sums_go_on 2000
kill -KILL "${RANK_PID[@]}"
ranks_wait 10
start_over 3
clients_run 4000 "$THREADS" 5 "${FLOATS[@]}"
net_swagg_stop
