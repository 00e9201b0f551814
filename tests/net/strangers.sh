#!/usr/bin/env bash
# Senders that are in no job must not hinder those that are in one.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FLOOD=20000 # jobs joined and left

begin_with_swagg strangers

step "a flood of strangers' JOINs beside a job: its heartbeats arrive, its sums are right"
ranks_start beside 4 --until-told --largest 5000 --pause 5
ranks_say 30 open
net_exec 3 "$(dirname "${BASH_SOURCE[0]}")/join_flood.py" "$(net_switch_ip)" "$FLOOD"
job_ends
for port in h0 h1 h2; do
    expect_equal "messages of $port for which there was no room" "$(net_telemetry "/swagg/drops,$port" control_full)" 0
done

step "what comes too often is dropped under its own name, and does not fill the log"
has_dropped() { # MESSAGES
    [ "$(net_telemetry /swagg/drops,h3 control_rate)" -gt "$1" ]
}
# Where the main thread had no CPU meanwhile, most of the flood found no room before it: then there is another one.
is_too_often() {
    has_dropped $((FLOOD / 4)) && return
    net_exec 3 "$(dirname "${BASH_SOURCE[0]}")/join_flood.py" "$(net_switch_ip)" "$FLOOD"
    has_dropped $((FLOOD / 4))
}
net_until 30 "control_rate has grown" is_too_often
[ "$(wc -l <"$NET_DIR/swagg.log")" -lt $((FLOOD / 4)) ] || fail "$(wc -l <"$NET_DIR/swagg.log") lines of log"

step "and the switch obeys a signal at once"
dropped=$(net_telemetry /swagg/drops,h3 control_rate)
net_exec 3 "$(dirname "${BASH_SOURCE[0]}")/join_flood.py" "$(net_switch_ip)" "$FLOOD" &
flood=$!
net_until 30 "the flood has begun" has_dropped "$dropped"
net_swagg_stop
net_until 60 "the flood is over" net_gone "$flood"

step "a tenant's hosts join its jobs, and no others"
net_swagg_with "tenants:" \
    "  - {name: lab, addresses: [$(net_ip 0), $(net_ip 1)], jobs: [\"train-*\"]}"
ranks_run train-1 2 --sizes 1,1000 --calls 3
RANK_PID=()
rank_start other 1 2
ranks_wait 30
expect_equal "exit status of rank 1" "${RANK_STATUS[1]}" 3
expect_match "what rank 1 says" "$(rank_log 1)" "none of the switch's tenants has $(net_ip 1)"
net_swagg_stop

step "a tenant has no more than its quota"
net_swagg_with "tenants:" \
    "  - {name: lab, addresses: [$(net_ip 0), $(net_ip 1)], quota: {jobs: 2, slots: 1536}}"
held=()
for job in whole half; do
    ranks_start "$job" 2 --calls 1000000 --largest 5000 --pause 20
    rank_says 30 0 open
    rank_says 30 1 open
    held+=("${RANK_PID[@]}")
done
expect_equal "slots of both" "$(net_telemetry /swagg/job,whole slots) $(net_telemetry /swagg/job,half slots)" "1024 512"
ranks_start third 2
ranks_wait 30
expect_equal "exit statuses of the third job" "${RANK_STATUS[*]}" "3 3"
expect_match "what its rank 0 says" "$(rank_log 0)" \
    "tenant lab has 2 jobs, as many as the switch's tenants\[0\].quota.jobs allows: whole, half"
kill -KILL "${held[@]}"
