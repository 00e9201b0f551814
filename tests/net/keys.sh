#!/usr/bin/env bash
# Keys of the configuration whose effect no other test shows: what each changes in the daemon.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FRAMES=1000

net_begin keys
net_hosts 3

# A running job of two ranks that go on until they are killed.
job_start() { # JOB [ARGUMENT...]
    ranks_start "$1" 2 --calls 1000000000 --largest 20K --pause 20 "${@:2}"
    ranks_say 60 open
}

job_kill() {
    kill -KILL "${RANK_PID[@]}"
    ranks_wait 30
}

# One more job of so many ranks is refused with these words.
refused() { # RANKS REGEX [ARGUMENT...]
    local running=("${RANK_PID[@]}") rank
    ranks_start refused "$1" --join-timeout 60000 "${@:3}"
    ranks_wait 90
    for ((rank = 0; rank < $1; rank++)); do
        expect_equal "exit status of rank $rank" "${RANK_STATUS[rank]}" 3
        expect_match "what rank $rank says" "$(rank_log "$rank")" "$2"
    done
    RANK_PID=("${running[@]}")
}

sleeps() {
    net_telemetry "/swagg/lcore,$(net_telemetry /swagg/lcores lcores/lcore 0)" sleeps
}


knows() { # HOST
    [[ $(net_ctl fdb) == *"$(net_mac "$1")"* ]]
}


step "limits.workers: 2, limits.jobs: 1"
net_swagg_with "limits: {workers: 2, jobs: 1}" "pool: {slots_per_job: 64, kept_frames: 0}" \
    "timers: {mac_age_s: 1, lost_after_ms: 60000}" "memory: {mode: no-huge, megabytes: 200}"
refused 3 "limits.workers, 2"
net_swagg_kill # what is left of that job
net_swagg_start "$NET_DIR/swagg.yaml"
job_start only
refused 1 "limits.jobs"

step "pool.slots_per_job: 64, pool.kept_frames: 0"
expect_equal "slots" "$(net_telemetry /swagg/job,only slots)" 64
expect_equal "kept_frames_max" "$(net_telemetry /swagg/job,only kept_frames_max)" 0

step "memory.mode: no-huge, memory.megabytes: 200"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" 'memory: .*ordinary pages'
expect_equal "megabytes" "$(net_telemetry /swagg/memory memory_bytes | awk '{ print int($1 / 1048576 / 8 + 0.5) * 8 }')" 200

step "timers.mac_age_s: 1"
job_kill
reaches 2 "$(net_switch_ip)"
net_until 60 "host 2 is forgotten" not knows 2
net_swagg_stop

step "mtu: 1000"
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//') # the first that this process may use: unasked, the main thread's
net_swagg_with "mtu: 1000" "pool: {megabytes: 1}" \
    "lcores: [{cpu: $cpu, rx: [all], tx: [all], aggregate: [0]}]"
reaches 2 "$(net_switch_ip)" -s 900
net_exec 2 ping -q -c1 -W1 -s 1200 "$(net_switch_ip)" >"$NET_DIR/ping.log" || true
net_until 30 "the longer ping is dropped" prints -gt 0 net_telemetry /swagg/drops,h2 oversize

step "pool.megabytes: 1, and pool.kept_frames as ever"
job_start small --mtu 1000
[ "$(net_telemetry /swagg/job,small slots)" -lt 1024 ] || fail "a job with $(net_telemetry /swagg/job,small slots) slots"
[ "$(net_telemetry /swagg/job,small kept_frames_max)" -gt 0 ] || fail "a job that may keep no frames"

step "lcores.cpu"
expect_equal "the CPU of the polling thread" "$(net_telemetry /swagg/lcore,1 cpu)" "$cpu"

job_kill
net_swagg_stop

step "idle.max_sleep_us: 0"
net_swagg_with "idle: {max_sleep_us: 0}"
reaches 2 "$(net_switch_ip)"
expect_equal "sleeps" "$(sleeps)" 0
net_swagg_stop

step "and without: it sleeps, and knows its stations for minutes"
net_swagg_with
reaches 2 "$(net_switch_ip)"
net_until 30 "it sleeps" prints -gt 0 sleeps
knows 2 || fail "host 2 is not known"
net_swagg_stop

step "tenants.key_file: jobs of its names need the key, over a restart of the switch, too"
key_file lab.key
key_file other.key
net_swagg_with "tenants: [{name: lab, jobs: [secret], key_file: $NET_DIR/lab.key}, \
{name: all, addresses: [0.0.0.0/0]}]"
job_start secret --key-file "$NET_DIR/lab.key" --largest 150
running=("${RANK_PID[@]}")
key_refused() { # JOB REGEX [ARGUMENT...]
    ranks_start "$1" 1 "${@:3}"
    ranks_wait 90
    expect_equal "exit status" "${RANK_STATUS[0]}" 3
    expect_match "what it says" "$(rank_log 0)" "$2"
}
key_refused secret "need the key of tenant lab"
is_not_believed() { # who hears nothing for so long does not hear that either
    ranks_start secret 1 --key-file "$NET_DIR/other.key" --answer-timeout 10000
    ranks_wait 90
    grep -q "does not show that it has the key in .*other.key" "$NET_DIR/rank0.log"
}
net_until 60 "another key is refused" is_not_believed
expect_equal "exit status" "${RANK_STATUS[0]}" 3
key_refused open "key is tenant lab's, who has no jobs of this name" --key-file "$NET_DIR/lab.key"
[ "$(net_telemetry /swagg/drops,h0 control_unknown_key)" -gt 0 ] || fail "no message counts as sealed with an unknown key"

step "data_keys: whoever forges a rank's packets, but lacks the key, changes no sum, over a restart of the switch, too"
expect_equal "checksum" "$(net_telemetry /swagg/job,secret checksum)" keyed
forge() {
    net_exec 0 "$(dirname "${BASH_SOURCE[0]}")/forger.py" eth0 "$(net_switch_ip)" "$(net_ip 0)" \
        "$(net_telemetry /swagg/job,secret slots)" 1000
    net_until 60 "a forged packet counts as unproven" prints -gt 0 net_telemetry /swagg/verdicts drop_unproven
    for rank in 0 1; do # each checks each sum
        kill -0 "${running[rank]}" || fail "rank $rank has ended: $(rank_log "$rank")"
    done
}
forge
net_swagg_kill
net_swagg_start "$NET_DIR/swagg.yaml"
net_until 90 "the job is resumed" grep -q 'job secret: resumed' "$NET_DIR/swagg.log"
forge
RANK_PID=("${running[@]}")
job_kill
net_swagg_stop
sed -i 's/key_file:/data_keys: false, &/' "$NET_DIR/swagg.yaml"
net_swagg_start "$NET_DIR/swagg.yaml"
job_start secret --key-file "$NET_DIR/lab.key"
expect_equal "checksum" "$(net_telemetry /swagg/job,secret checksum)" none
job_kill
net_swagg_stop
chmod o+r "$NET_DIR/lab.key"
"$NET_BUILD/swagg/swagg" --check "$NET_DIR/swagg.yaml" >"$NET_DIR/check.log" 2>&1 && fail "a key that all can read is good"
expect_match "what --check says" "$(cat "$NET_DIR/check.log")" 'tenants\[0\].key_file: .*lab.key can be read'

step "reload: a job notices nothing while its tenant gets another name, and its key is retired"
key_file first.key
key_file next.key
cp "$NET_DIR/first.key" "$NET_DIR/lab.key"
chmod go= "$NET_DIR/lab.key"
net_swagg_with "tenants: [{name: lab, jobs: [secret], key_file: $NET_DIR/lab.key}]"
job_start secret --key-file "$NET_DIR/first.key"
running=("${RANK_PID[@]}")
cat "$NET_DIR/next.key" >"$NET_DIR/lab.key"
sed -i 's/^tenants:.*/tenants: [{name: all, addresses: [0.0.0.0\/0]}, {name: lab, jobs: [secret, "s*"], weight: 3, key_file: '"${NET_DIR//\//\\/}"'\/lab.key}]\npool: {slots_per_job: 64}\nlimits: {jobs: 2}/' "$NET_DIR/swagg.yaml"
told=$(net_ctl --no-header reload | tr -s ' ')
for line in 'pool.slots_per_job 1024 64 new jobs' 'limits.jobs 16 2 now' 'tenants\[all\] - added now' \
    'tenants\[lab\].weight 1 3 now' 'tenants\[lab\].key_file: keys - 1 new, 1 retired now'; do
    expect_match "what swaggctl tells" "$told" "$line"
done
sums_go_on 100
key_refused second "no longer takes this key for new jobs" --key-file "$NET_DIR/first.key"
RANK_PID=()
ranks_start second 1 --calls 1000000000 --largest 20K --pause 20 --key-file "$NET_DIR/next.key"
rank_says 60 0 open
expect_equal "slots of a job from before" "$(net_telemetry /swagg/job,secret slots)" 1024
expect_equal "slots of a new one" "$(net_telemetry /swagg/job,second slots)" 64
expect_equal "its tenant" "$(net_telemetry /swagg/job,secret tenant)" lab
net_ctl job kill second
ranks_wait 90

step "reload: a tenant with a running job leaves, and the file is as the switch"
sed -i 's/, {name: lab.*/]/' "$NET_DIR/swagg.yaml"
expect_match "what swaggctl tells" "$(net_ctl reload)" 'tenants\[lab\] *- *removed'
expect_equal "the job's tenant" "$(net_telemetry /swagg/job,secret tenant)" lab
sums_go_on 100
expect_equal "what is left to change" "$(net_ctl --json reload | tr -d ' \n')" '{"changes":[]}'
RANK_PID=("${running[@]}")
job_kill
net_swagg_stop

step "a port is added, used and removed, and a job on other ports goes on"
net_swagg_config "$NET_DIR/swagg.yaml"
sed -i '/name: h2/d' "$NET_DIR/swagg.yaml"
net_swagg_start "$NET_DIR/swagg.yaml"
job_start stays
running=("${RANK_PID[@]}")
expect_match "why it has no port" "$(net_ctl port add h2 kernel:p1 2>&1)" '"kernel:p1" is the device of ports\[1\] already'
expect_match "why it has no port" "$(net_ctl port add h2 kernel:nothere 2>&1)" 'cannot open interface nothere: No such device'
ip -n "$NET_ID-sw" link property add dev p1 altname other
expect_match "why it has no port" "$(net_ctl port add h2 kernel:other 2>&1)" "interface other is another port's of this switch"
net_ctl port add h2 kernel:p2
reaches 2 "$(net_switch_ip)"
ranks_start cut 3 --calls 1000000000 --largest 20K --pause 20
ranks_say 60 open
net_ctl port del h2
ranks_say 60 "rank 2 .* was on port h2, which the switch's operator has removed"
ranks_wait 90
[[ $(net_ctl ports) != *h2* ]] || fail "port h2 is still there"
sums_go_on 100
sed -i '/name: h1/a \  - {name: h2, device: "kernel:p2"}' "$NET_DIR/swagg.yaml"
expect_match "what swaggctl tells" "$(net_ctl reload)" 'ports\[h2\] *- *added'
reaches 2 "$(net_switch_ip)"

step "a static job cannot take the port of a rank that has joined"
address=$(net_ctl --json ranks stays | python3 -c 'import json, sys; print(json.load(sys.stdin)["ranks"][1]["address"])')
add_static() { # PORT
    printf 'static: [{name: late, workers: [{ip: %s, port: %s, mac: "02:00:00:00:00:77"}]}]\n' "${address%:*}" "$1" \
        >>"$NET_DIR/swagg.yaml"
}
add_static "${address#*:}"
expect_match "why it is not taken" "$(net_ctl reload 2>&1)" "UDP port ${address#*:} of ${address%:*} is rank 1's of job stays"
sed -i '/^static:/d' "$NET_DIR/swagg.yaml"
add_static 1
expect_match "what swaggctl tells" "$(net_ctl reload)" 'static\[late\] *- *added'
RANK_PID=("${running[@]}")
job_kill
net_swagg_stop

step "log_level"
says() { # LEVEL: the number of lines of one that cannot start
    printf 'ports: [{device: "kernel:nothere"}]\nlog_level: %s\n' "$1" >"$NET_DIR/level.yaml"
    ip netns exec "$NET_ID-sw" timeout 300 "$NET_BUILD/swagg/swagg" "$NET_DIR/level.yaml" -- --file-prefix="$NET_ID" 2>&1 |
        grep -c swagg: || true
}
[ "$(says error)" -lt "$(says notice)" ] || fail "errors alone are as many lines as notices with them"

# Frames from a capture, flooded from port a to port b. Prints how often an impairment has struck.
python3 - "$FRAMES" >"$NET_DIR/in.pcap" <<'END'
import struct, sys
sys.stdout.buffer.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
for i in range(int(sys.argv[1])):
    frame = b"\xff" * 6 + bytes([2, 0, 0, 0, 9, 9]) + b"\x88\xb5" + i.to_bytes(4, "big") + bytes(60)
    sys.stdout.buffer.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
END
head -c 24 "$NET_DIR/in.pcap" >"$NET_DIR/none.pcap"
hits() { # DIRECTION SETTINGS SEED
    local port=a kind
    [ "$1" = rx ] || port=b
    cat >"$NET_DIR/hits.yaml" <<END
ports:
  - {name: a, device: "net_pcap0,rx_pcap=$NET_DIR/in.pcap,tx_pcap=$NET_DIR/a.pcap"}
  - {name: b, device: "net_pcap1,rx_pcap=$NET_DIR/none.pcap,tx_pcap=$NET_DIR/b.pcap"}
seed: $3
lcores: [{rx: [all], tx: [all], aggregate: [0]}]
loops: {find: false} # whose probes would be among the frames that are counted
END
    sed -i "s/name: $port,/&  impair: {$1: {$2}},/" "$NET_DIR/hits.yaml"
    net_swagg_start "$NET_DIR/hits.yaml"
    net_until 30 "all frames are received" prints -eq "$FRAMES" net_telemetry /swagg/counters received
    net_until 30 "the lcore has slept since, and so is done with them" prints -gt "$(sleeps)" sleeps
    for kind in drop duplicate reorder corrupt; do
        net_telemetry "/swagg/port,$port" "$1_impaired_$kind"
    done | xargs
    net_swagg_stop
}

step "drop_every, duplicate_every, reorder_every, corrupt_every"
for direction in rx tx; do # of 1000 frames; a dropped frame is only dropped
    expect_equal "hits of each, $direction" \
        "$(hits "$direction" "drop_every: 10, duplicate_every: 9, reorder_every: 8, corrupt_every: 7" 1)" "100 100 100 128"
done

step "drop, duplicate, reorder, corrupt, and seed"
everything="drop: 0.2, duplicate: 0.2, reorder: 0.2, corrupt: 0.2"
for direction in rx tx; do
    first=$(hits "$direction" "$everything" 1)
    expect_equal "numbers of hits" "$(wc -w <<<"$first")" 4
    for n in $first; do
        if [ "$n" -lt 100 ] || [ "$n" -gt 300 ]; then fail "hits of $everything, $direction: $first"; fi
    done
done
expect_equal "hits with the same seed" "$(hits tx "$everything" 1)" "$first"
[ "$(hits tx "$everything" 2)" != "$first" ] || fail "another seed makes no difference"
