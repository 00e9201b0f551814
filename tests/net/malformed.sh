#!/usr/bin/env bash
# Frames that are wrong in some way, from a member of a live job: each is dropped under its own counter; the job's sums
# stay right and nobody else notices.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg malformed

step "a job is at work"
ranks_start live 4 --calls 100000 --largest 5000 --pause 5
for rank in 0 1 2 3; do
    rank_says 10 "$rank" open
done

step "each malformed frame is counted under its own name, and under no other"
net_exec 3 "$(dirname "${BASH_SOURCE[0]}")/malformed.py" "$NET_ID" "$NET_SWITCH_MAC" "$(net_switch_ip)" "$(net_ip 3)"

step "the job has not noticed"
for rank in 0 1 2 3; do
    kill -0 "${RANK_PID[rank]}"
    kill -TERM "${RANK_PID[rank]}"
done
ranks_wait 10

step "a new job's sums are right"
ranks_run after 4 --calls 50

net_swagg_stop
