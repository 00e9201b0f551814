#!/usr/bin/env bash
# What happens to a job when a rank or the switch is missing, dies, comes back, or when ranks make different calls.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

NET_SWITCH_MAC= # derived by the daemon; it must be the same after each restart
begin_with_swagg failures "timers: {lost_after_ms: 10000}"

all_frames_are_free() {
    [ "$(net_telemetry /swagg/memory mbufs_in_use)" -le "$frames_in_use" ]
}

for host in 0 1 2 3; do
    reaches "$host" "$(net_switch_ip)" # then each port has the frames that it waits with
done
frames_in_use=$(net_telemetry /swagg/memory mbufs_in_use)

polling_thread() { # of the daemon: its id
    grep -l worker "/proc/$NET_SWAGG_PID/task/"*/comm | head -n1 | cut -d/ -f5
}

stop_polling_thread() { # SECONDS
    local status=0
    "$NET_LIB/../../tests/net/stop_thread.py" "$(polling_thread)" "$1" >"$NET_DIR/stop.log" || status=$?
    [ "$status" -ne 2 ] || printf '    skipped: %s\n' "$(cat "$NET_DIR/stop.log")"
    [ "$status" -eq 0 ] || [ "$status" -eq 2 ]
}

stop_daemon() { # SECONDS
    kill -STOP "$NET_SWAGG_PID"
    sleep "$1"
    kill -CONT "$NET_SWAGG_PID"
}

step "the switch's polling thread, then all of it, stands still for longer than lost_after: nobody is lost"
ranks_start still 4 --until-told --largest 600K --pause 5 --seed 9
ranks_say 10 open
windows_are_told() { # in heartbeats
    [ "$(net_ctl -H -o window ranks still | sort -n | head -n 1)" -gt 0 ] && [ "$(net_ctl -o window_most job still | awk '{ print $2 }')" -gt 0 ]
}
net_until 10 "the ranks have told their windows" windows_are_told
for stop in stop_polling_thread stop_daemon; do
    sums_go_on 500
    $stop 12
done
job_ends
refuses grep ' lost' "$NET_DIR/swagg.log"

step "a worker is killed: its peers are told which one, long before their deadline"
ranks_start killed 4 --calls 1000000
ranks_say 10 open
kill -KILL "${RANK_PID[2]}"
ranks_wait 10
expect_told 'rank 2' 0 1 3

step "with a quorum it is not: the others go on without it, and still do when it has been noticed"
ranks_start quorum 4 --calls 1000000 --largest 150 --pause 20 --quorum 3 --quorum-wait 20
ranks_say 10 open
kill -KILL "${RANK_PID[2]}"
net_until 60 "rank 2 is lost" grep -q "rank 2 .*lost: .*; goes on with 3 of 4 ranks" "$NET_DIR/swagg.log"
sums_go_on 50
for rank in 0 1 3; do
    refuses net_gone "${RANK_PID[rank]}" # at a wrong sum it would
done
kill -TERM "${RANK_PID[0]}" "${RANK_PID[1]}" "${RANK_PID[3]}"
ranks_wait 10
net_until 60 "the job is gone" jobs_are_gone

step "the job is formed anew under the same name"
ranks_run killed 4 --sizes 1,100003 --calls 20

step "jobs that sum in place leave no frames behind, however they ended"
ranks_start frames 4 --calls 1000000
ranks_say 10 open
[ "$(net_telemetry /swagg/job,frames kept_frames_max)" -gt 0 ] || fail "the job may keep no frames"
net_until 10 "frames are kept" not all_frames_are_free
kill -KILL "${RANK_PID[2]}"
ranks_wait 10
net_until 10 "no frame is kept" all_frames_are_free

step "a worker comes back before its peers have noticed: they are told, and the name is free again"
ranks_start back 4 --calls 1000000
ranks_say 10 open
kill -KILL "${RANK_PID[1]}"
rank_start back 1 4 --calls 20 --seed 5
for rank in 0 2 3; do
    net_until 10 "rank $rank has ended" net_gone "${RANK_PID[rank]}"
    expect_match "what rank $rank says" "$(rank_log "$rank")" 'rank 1'
    rank_start back "$rank" 4 --calls 20 --seed 5
done
ranks_succeed 30

net_swagg_stop
net_swagg_with "state: $NET_DIR" # from here on nobody is to be lost, and who comes back shows his ticket
touch -d "1 hour ago" "$NET_DIR/tickets.secret" # a young one shows nothing yet

names_rank_3='ranks? ([0-9, and]+ )?3' # beside others, if those are late

step "a worker that never comes is named"
for rank in 0 1 2; do
    rank_start absent "$rank" 4 --join-timeout 10000 --sizes 1
done
unset 'RANK_PID[3]'
ranks_wait 10
expect_told "$names_rank_3" 0 1 2

step "a worker that is stopped in the middle is named at the deadline"
ranks_start stopped 4 --calls 1000000 --largest 5000 --call-timeout 10000
ranks_say 10 open
kill -STOP "${RANK_PID[3]}"
for rank in 0 1 2; do
    net_until 10 "rank $rank has ended" net_gone "${RANK_PID[rank]}"
    expect_match "what rank $rank says" "$(rank_log "$rank")" "$names_rank_3"
done
kill -CONT "${RANK_PID[3]}"
ranks_wait 10
expect_equal "exit statuses of the ranks" "${RANK_STATUS[*]}" "3 3 3 3"

step "ranks that call different things are told both, all of them"
for rank in 0 1 2 3; do
    rank_start mismatch "$rank" 4 --sizes $((rank == 3 ? 1001 : 1000))
done
ranks_wait 10
expect_told '1001' 0 1 2 3
expect_told '1000' 0 1 2 3

step "a rank that has another number of ranks is refused with the reason"
RANK_PID=()
rank_start range 0 2 --sizes 1
net_until 10 "one has joined" prints -eq 1 net_telemetry /swagg/job,range present
rank_start range 1 3 --sizes 1
net_until 10 "the other one has ended" net_gone "${RANK_PID[1]}"
kill -KILL "${RANK_PID[0]}" || true # if it was told, too
ranks_wait 10
expect_equal "exit status of rank 1" "${RANK_STATUS[1]}" 3
expect_match "what rank 1 says" "$(rank_log 1)" 'says that there are 3 ranks, rank 0 .*says 2'

of_rank() { # RANK COLUMN: of the job with a quorum
    net_ctl -H -o "$2" ranks quorum | sed -n "$(($1 + 1))p"
}

has_more() { # RANK COLUMN NUMBER
    [ "$(of_rank "$1" "$2")" -gt "$3" ]
}

# A call is a packet. The three stop before their 300th, of which 200 are made without the fourth.
step "a worker that is stopped holds no quorum up; when it goes on it gets sums that it is not in, does without those that are gone, and joins in again"
one_of_four_is_stopped() {
    local rank contributed
    for rank in 0 1 2 3; do
        rank_start quorum "$rank" 4 --calls 600 --largest 150 --quorum 3 --quorum-wait 20 --slots 16 \
            --stop-before $((rank == 3 ? 100 : 300))
    done
    for rank in 3 0 1 2; do
        net_until 60 "rank $rank stops itself" is_stopped "$rank"
    done
    contributed=$(of_rank 3 contributions)
    has_more 3 missed 150 || fail "rank 3 was waited for: $(net_ctl ranks quorum)"
    kill -CONT "${RANK_PID[3]}"
    net_until 60 "rank 3 is where the others are" has_more 3 contributions "$contributed"
    for rank in 0 1 2; do
        kill -CONT "${RANK_PID[rank]}"
    done
    ranks_succeed 60
    expect_match "what rank 3 says" "$(rank_log 3)" '[1-9][0-9]* this one, [1-9][0-9]* are missed'
}
for _ in {1..10}; do # until the machine lets rank 0 stand still for no more than quorum-wait, or it misses something, too
    one_of_four_is_stopped
    ! grep -q ', 0 are missed' "$NET_DIR/rank0.log" || break
done
expect_match "what rank 0 says" "$(rank_log 0)" '[1-9][0-9]* calls lack ranks, [0-9]* this one, 0 are missed'

open_for_restarts() { # JOB [ARGUMENT...]
    ranks_start "$1" 4 --until-told --largest 600K --pause 5 --seed 9 "${@:2}"
    ranks_say 10 open # a switch that is away for seconds before that is none
}

restarts_are_not_noticed() {
    local _
    for _ in 1 2; do
        net_until 10 "sums go out" more_results_than 1000
        net_swagg_kill
        net_swagg_start "$NET_DIR/swagg.yaml"
    done
    job_ends
    expect_match "what rank 0 says" "$(rank_log 0)" '[1-9] resumed'
}
step "a switch that is killed and comes back in the middle of collectives: nobody notices"
open_for_restarts restart
restarts_are_not_noticed

step "the same with ranks of three threads, while a stranger joins under the job's name each 50 ms"
open_for_restarts beset --threads 3
ip netns exec "$NET_ID-h3" "$(dirname "${BASH_SOURCE[0]}")/stranger.py" "$(net_switch_ip)" beset 4 &
stranger=$!
restarts_are_not_noticed
kill "$stranger"
net_until 10 "the stranger is gone" net_gone "$stranger"

killed_while_forming() { # the last of four ranks is still to come
    local rank
    for rank in 0 1 2; do
        rank_start forming "$rank" 4 --calls 20
    done
    net_until 10 "three have joined" prints -eq 3 net_telemetry /swagg/job,forming present
    net_swagg_kill
}

forms_all_the_same() {
    ranks_succeed 30
}

step "a switch that is killed while a job is forming, and comes back before the last rank does: it forms all the same"
killed_while_forming
net_swagg_start "$NET_DIR/swagg.yaml"
net_until 10 "the three have joined anew" prints -eq 3 net_telemetry /swagg/job,forming present
rank_start forming 3 4 --calls 20
forms_all_the_same

step "the same, but the last rank comes while the switch is away"
killed_while_forming
rank_start forming 3 4 --calls 20
net_swagg_start "$NET_DIR/swagg.yaml"
forms_all_the_same

# The UDP port from which host 0 sends data packets to the switch; empty if it has no such socket yet.
data_port() {
    local peer
    # shellcheck disable=SC2046,SC2183 # four numbers
    peer=$(printf '%02X%02X%02X%02X:BEE0' $(net_switch_ip | awk -F. '{print $4, $3, $2, $1}'))
    # shellcheck disable=SC2016 # awk's
    net_exec 0 awk -v peer="$peer" '$3 == peer {split($2, at, ":"); print at[2]}' /proc/net/udp | head -n1
}

has_data_port() {
    port=$(data_port)
    [ -n "$port" ]
}

kernel_believes() { # MTU, of host 0's path to the switch
    net_exec 0 ip route get "$(net_switch_ip)" | grep -q "mtu $1"
}

step "ICMP of a stranger that claims a path of 560 bytes: nobody notices, in this job and the next"
ranks_start narrow 4 --until-told --largest 600K --pause 5 --seed 9
net_until 10 "host 0 has a data socket" has_data_port
ranks_say 10 open
claimed_and_believed() { # again, for the first ones may be lost before host 1 knows where host 0 is
    net_exec 1 "$NET_LIB/../../tests/net/narrow.py" "$(net_ip 0)" "$(net_switch_ip)" "$((16#$port))"
    kernel_believes 560
}
net_until 10 "the kernel believes it" claimed_and_believed
job_ends
ranks_run next 4 --calls 20
expect_match "terms of the next job" "$(rank_log 0)" '1460 bytes a packet'

step "a route that is closed for a moment in the middle of collectives: nobody notices"
ranks_start routes 4 --until-told --largest 600K --pause 5 --seed 9
ranks_say 10 open
for way in prohibit blackhole unreachable; do # EACCES, EINVAL, EHOSTUNREACH
    sums_go_on 500
    net_exec 0 ip route add "$way" "$(net_switch_ip)/32"
    sleep 0.3
    net_exec 0 ip route del "$way" "$(net_switch_ip)/32"
done
job_ends

step "a switch that stays away: everybody gets an error by the deadline"
ranks_start away 4 --calls 1000000 --call-timeout 2000
ranks_say 10 open
net_swagg_kill
ranks_wait 15
expect_equal "exit statuses of the ranks" "${RANK_STATUS[*]}" "3 3 3 3"

step "no switch at all: said at once, and how to mend it"
ranks_start none 4 --sizes 1 --join-timeout 1000
ranks_wait 10
expect_told "$(net_switch_ip)" 0 1 2 3
