#!/usr/bin/env bash
# Published SwitchML clients from their first call on, beside swagg-tofino: sessions become static jobs of a chip that runs, which
# outlive a reload, swagg-tofino and the controller, and end when their workers have gone. What the chip has no room for, or
# cannot do, the workers hear. One packet in a hundred is lost.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/net/chip.sh
. "$(dirname "${BASH_SOURCE[0]}")/chip.sh"
# shellcheck source=tests/net/sessions.sh
. "$(dirname "${BASH_SOURCE[0]}")/sessions.sh"

net_begin session_tofino
net_hosts 3
# shellcheck disable=SC2034 # for sessions.sh
CONTROLLER_SPACE=$NET_ID-sw CONTROLLER_IP=$(net_switch_ip) CONTROLLED=$NET_DIR/ctl SWITCH_MAC=$NET_SWITCH_MAC

cat >"$NET_DIR/tofino.yaml" <<END
ports:
  - {name: cpu, device: "kernel:cpu"}
  - {name: first, device: "chip:0"}
  - {name: second, device: "chip:1"}
  - {name: third, device: "chip:2"}
switch: {ip: $(net_switch_ip)/24}
timers: {lost_after_ms: 300000}
control: {path: $NET_DIR/ctl}
tenants:
  - {name: lab, jobs: [ours], addresses: [0.0.0.0/0], quota: {jobs: 1}}
  - {name: all, addresses: [0.0.0.0/0]}
END

sums_come() { # HOST...
    local host tensor
    for host in "$@"; do
        tensor=$(grep -c 'is right' "$NET_DIR/rank$host.log")
        rank_says 60 "$host" "tensor $((tensor + 3)) is right"
    done
}

job_of() { # HOST
    ctl --json jobs | python3 -c 'import json, sys
for job in json.load(sys.stdin)["jobs"]: print(job["name"])' | while read -r job; do
        ! ctl ranks "$job" | grep -q "$(net_ip "$1"):4000" || echo "$job"
    done
}

worker_is_killed() { # HOST
    kill -KILL "${RANK_PID[$1]}"
    wait "${RANK_PID[$1]}" || true
    unset "RANK_PID[$1]"
}

chip_link
helper_of tofino
chip_start tofino 0.01
switch_start
reaches 0 "$(net_switch_ip)"
net_until 60 "swagg-tofino answers" ctl status

step "two sessions at once, of two workers and of one"
controller_start threads=2 slots=$((2 * WINDOW))
worker_start 1 1 2 1 f300 i200 forever
worker_start 0 0 2 1 f300 i200 forever
ranks_say 60 "tensor 1 is right"
worker_start 2 0 1 2 f500 f1 i500
controller_says ": 1 workers, $(net_ip 2)\$" # beside the first
first=$(job_of 0)
shows "^$first *running *2" --only name,state,present jobs
shows "^1 *joined *$(net_ip 1):4000-4001" --only rank,state,address ranks "$first"
worker_ends_well 2 "all right"
net_until 60 "the second job has ended" jobs_are 1
controller_says 'ends: its workers have gone'

step "the job outlives a reload, and swagg-tofino, which is killed"
ctl reload
sums_come 0 1
switch_kill
switch_start
net_until 60 "swagg-tofino has taken it over" shows "^$first *running" --only name,state jobs
sums_come 0 1

step "and the controller"
controller_stop
controller_start --gone=600 threads=2 slots=$((2 * WINDOW)) # a chip that stands still for a while is not to end it
controller_says "job $first: it is of an earlier process"
sums_come 0 1
jobs_are 1 || fail "the job has ended"

step "workers that are killed and start again are in another session at once"
for host in 0 1; do
    worker_is_killed "$host"
done
worker_start 0 0 2 3 f300
worker_start 1 1 2 3 f300
for host in 0 1; do
    worker_ends_well "$host" "all right"
done
controller_stop
controller_start
net_until 60 "no job is left" jobs_are 0
controller_stop

step "what the chip has no room for, or cannot do, the workers hear"
controller_start --port=50098 --worker-port=7000 threads=2 slots=$((2 * WINDOW)) tenant=lab
CLIENT_PORT=50098 FIRST_PORT=7000 worker_start 0 0 1 4 f300 i200 forever
rank_says 60 0 "tensor 1 is right"
OTHER=$CONTROLLER
refused_session() { # REGEX SETTING...
    controller_start "${@:2}"
    worker_start 1 0 1 5 f300
    workers_are_refused "$1"
    controller_stop
}
workers_are_refused() { # REGEX
    net_until 60 "the worker has ended" net_gone "${RANK_PID[1]}"
    refuses wait "${RANK_PID[1]}"
    expect_match "what it says" "$(rank_log 1)" "FAILED_PRECONDITION: the switch says: $1"
    unset 'RANK_PID[1]'
}
refused_session '.*16384 rows of registers are wanted in one piece' slots=8192
refused_session '.*12 slots: must be a power of two' slots=12
refused_session '.*tenant lab has 1 jobs, as many as its quota.jobs allows' tenant=lab
controller_start
rdma_worker_start 1 0 4 1
rdma_worker_start 2 1 4 1
for host in 1 2; do
    net_until 60 "the worker has ended" net_gone "${RANK_PID[$host]}"
    refuses wait "${RANK_PID[$host]}"
done
expect_match "what they say" "$(rank_log 1)$(rank_log 2)" 'the switch says: .*it sums no RDMA messages'
unset 'RANK_PID[1]' 'RANK_PID[2]'
controller_stop
sums_come 0
jobs_are 1 || fail "there is a job of those that were refused"

step "nothing is left"
worker_is_killed 0
net_until 60 "the last job has ended" jobs_are 0
CONTROLLER=$OTHER controller_stop
net_until 60 "and in the chip" chip_has_no_jobs
switch_stop
chip_stop
