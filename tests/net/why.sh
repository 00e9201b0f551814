#!/usr/bin/env bash
# swaggctl why: a healthy job gets "nothing"; each cause, made on purpose, is named, with its rank. On a machine that is busy ranks are late
# for others' sake: so pauses are long beside what a rank may wait for a CPU, and a cause may be told beside another.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

says() { # JOB CAUSE REGEX
    net_ctl --every 2 why "$1" >"$NET_DIR/why.txt"
    grep -E "^(also )?$2: .*$3" "$NET_DIR/why.txt" >"$NET_DIR/said.txt"
}
why_is() { # JOB CAUSE REGEX
    net_until 120 "$1: $2, $3" says "$@"
    printf '    %s\n' "$(cat "$NET_DIR/said.txt")"
}
CALLS=(--until-told --largest 20000)

begin_with_swagg why

step "ranks that have not joined"
rank_start train 0 4 "${CALLS[@]}" --pause 100
rank_start train 2 4 "${CALLS[@]}" --pause 100
net_until 60 "two ranks are there" prints = "present  2" net_ctl -H -o present job train
why_is train "not begun" "2 of 4 ranks are there; missing: 1, 3"

step "nothing holds up a job that computes between calls"
rank_start train 1 4 "${CALLS[@]}" --pause 100
rank_start train 3 4 "${CALLS[@]}" --pause 100
ranks_say 60 open
why_is train nothing "nothing holds it up: [0-9]+ packets"

step "a rank that is stopped"
kill -STOP "${RANK_PID[2]}"
why_is train rank "all wait for rank 2, and nothing has come"
kill -CONT "${RANK_PID[2]}"

step "a link that loses, on the way to the switch, and from it"
net_ctl impair set h1 rx drop=0.03
why_is train link "the link of rank 1 .* loses packets: [1-9][0-9.]* % of those to this switch"
net_ctl impair clear h1
net_ctl impair set h3 tx drop=0.03
why_is train link "the link of rank 3 .* loses packets: .* [1-9][0-9.]* % of those from it"
net_ctl impair clear h3
expect_match "who lost most in a minute" "$(net_ctl -H -o lossy_rank history train | xargs)" "[13]"
job_ends

step "a rank that computes for longer than the others"
ranks=(0 1 2 3)
RANK_PID=()
for rank in "${ranks[@]}"; do
    rank_start late "$rank" 4 "${CALLS[@]}" --pause $((rank == 3 ? 100 : 1))
done
ranks_say 60 open
why_is late rank "rank 3 .* comes late"
late_most() { # in the minute that goes on: another one, if it has stood still then
    net_ctl -H -o latest_rank history late | tail -1
}
net_until 120 "rank 3 was late most in a minute" prints = 3 late_most
tops() {
    net_ctl -n 1 -c 1 top </dev/null >"$NET_DIR/top.txt"
    grep -Eq "^late +everybody +running +4/4 +[1-9][0-9]* +[0-9.]+ +3 +[1-9]" "$NET_DIR/top.txt"
}
net_until 60 "top names rank 3" tops
job_ends

step "what there is not"
status=0
net_ctl why nix >"$NET_DIR/why.txt" 2>&1 || status=$?
expect_equal "exit status" "$status" 1
expect_match "what is said" "$(cat "$NET_DIR/why.txt")" "there is no job nix"
net_swagg_stop

step "slots that are too few"
net_swagg_with "pool: {slots_per_job: 4}"
ranks_start few 4 --until-told --largest 200K
ranks_say 60 open
why_is few slots "all 4 slots of the job"
job_ends
net_swagg_stop

step "packets that are too small"
net_swagg_with "mtu: 300"
ranks_start small 4 "${CALLS[@]}" --pause 100
ranks_say 60 open
why_is small mtu "packets carry [0-9]+ bytes"
job_ends
net_swagg_stop

step "a rank that lives and is late is named in the log, and ends its job where the configuration says so"
net_swagg_with "timers: {lost_after_ms: 35000, late_after_ms: 500, late_ends_s: 10}" # ranks tell how long they wait every 7 s
for rank in 0 1 2 3; do
    rank_start slow "$rank" 4 "${CALLS[@]}" --pause $((rank == 3 ? 600000 : 1))
done
slow_pid=${RANK_PID[3]}
unset 'RANK_PID[3]'
ranks_wait 60
expect_told 'ranks? ([0-9, and]+ )?3 .*late: others have waited [0-9.]+ s .*timers.late_ends_s' 0 1 2
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" 'warning: job slow: rank [0-2] .* has waited [0-9.]+ s in collective [0-9]+ for ranks? ([0-9, and]+ )?3'
kill -KILL "$slow_pid"
net_swagg_stop
