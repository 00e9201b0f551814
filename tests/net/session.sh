#!/usr/bin/env bash
# Published SwitchML clients from their first call on: they ask swagg-switchml-session, which has the switch add a job for them. Two
# sessions at once, workers that vanish, calls in a wrong order or without sense, and a controller that is started again.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/net/sessions.sh
. "$(dirname "${BASH_SOURCE[0]}")/sessions.sh"

net_begin session
net_hosts 5
net_swagg_with "seed: 5"
# shellcheck disable=SC2034 # for sessions.sh
CONTROLLER_SPACE=$NET_ID-h4 CONTROLLER_IP=$(net_ip 4) CONTROLLED=$NET_ID$NET_DAEMON
# shellcheck disable=SC2034 # the same
SWITCH_MAC=$(net_ctl --json status | python3 -c 'import json, sys; print(json.load(sys.stdin)["mac"])')

# As most hosts do, the controller's has IPv6; gRPC then listens by that.
ip netns exec "$CONTROLLER_SPACE" sysctl -qw net.ipv6.conf.lo.disable_ipv6=0

step "a controller that cannot be"
expect_end 2 'a setting is KEY=VALUE' "$NET_BUILD/session/swagg-switchml-session" threads
expect_end 2 'bogus is no setting of these jobs. There are: threads, ' "$NET_BUILD/session/swagg-switchml-session" bogus=1
expect_end 2 'slot is no setting of these jobs; did you mean slots\?' "$NET_BUILD/session/swagg-switchml-session" slot=1
expect_end 2 'invalid IPv4Address' "$NET_BUILD/session/swagg-switchml-session" --listen=::
expect_end 2 'is no port' "$NET_BUILD/session/swagg-switchml-session" --port=70000
expect_end 3 'the switch does not answer: No such file' "$NET_BUILD/session/swagg-switchml-session" --switch=/nowhere.ctl

step "two sessions at once, of two workers and of two"
controller_start threads=2 slots=$((2 * WINDOW))
expect_end 1 'cannot listen .* TCP port 50099' ip netns exec "$CONTROLLER_SPACE" "$NET_BUILD/session/swagg-switchml-session" \
    --switch="$CONTROLLED"
expect_end 1 'cannot listen at 192.0.2.1, .* no interface of this host has that address' ip netns exec "$CONTROLLER_SPACE" \
    "$NET_BUILD/session/swagg-switchml-session" --switch="$CONTROLLED" --listen=192.0.2.1
worker_start 1 1 2 1 f3000 i1000 forever
worker_start 0 0 2 1 f3000 i1000 forever
ranks_say 60 "tensor 1 is right"
worker_start 2 0 2 2 f5000 f1 i5000
worker_start 3 1 2 2 f5000 f1 i5000
controller_says ": 2 workers, $(net_ip 2), $(net_ip 3)\$" # beside the first
for host in 2 3; do
    worker_ends_well "$host" "all right"
done
net_until 60 "the second job has ended" jobs_are 1
controller_says 'ends: its workers have gone'

step "two workers with RDMA beside them, whose queue pairs and keys become a job's"
rdma_worker_start 2 0 4 9 3
rdma_worker_start 3 1 4 9 3
for host in 2 3; do
    worker_ends_well "$host" "2 tensors are right"
done
net_until 60 "the job of these has ended" jobs_are 1

step "workers that are killed and start again are in another session at once"
kill -KILL "${RANK_PID[@]}"
ranks_wait 30
RANK_PID=()
worker_start 0 0 2 3 f300
worker_start 1 1 2 3 f300
ranks_succeed 60
RANK_PID=()
net_until 60 "no job is left" jobs_are 0

step "two workers with RDMA whose messages differ"
rdma_worker_start 2 0 4 1
rdma_worker_start 3 1 2 1
workers_fail 'INVALID_ARGUMENT: rank [01] has RDMA messages of (128|256) elements in packets of 64, others' 2 3

step "a worker that vanishes before the session begins"
for calls in 1 2; do
    stopping_start 0 "$calls" 0 2
    worker_start 1 1 2 4 f300
    rank_says 60 0 stopped
    rank_says 60 1 "calls Sync/Barrier"
    kill -KILL "${RANK_PID[0]}"
    wait "${RANK_PID[0]}" || true
    workers_fail 'ABORTED: rank 0 has gone' 1
done

step "calls in a wrong order, and without sense"
calls_fail() { # (REGEX METHOD HEX)...
    local asked=() said i
    for ((i = 2; i <= $#; i += 3)); do
        asked+=("${@:i:2}")
    done
    mapfile -t said < <(client 0 call "${asked[@]}" | grep -v '^calls ')
    for ((i = 0; 3 * i < $#; i++)); do
        expect_match "what ${asked[2 * i]} is told" "${said[i]:-}" "${@:3 * i + 1:1}"
    done
}
calls_fail \
    'FAILED_PRECONDITION: Barrier before Broadcast' Sync/Barrier 0802 \
    'FAILED_PRECONDITION: UdpSession before Broadcast' Session/UdpSession 0801 \
    'INVALID_ARGUMENT: rank 2 is none of 2 workers' Sync/Broadcast 10021802 \
    'INVALID_ARGUMENT: 0 workers' Sync/Broadcast '' \
    'INVALID_ARGUMENT: 1000 workers' Sync/Broadcast 18e807 \
    'INVALID_ARGUMENT: the root, rank 7' Sync/Broadcast 18022007 \
    'INVALID_ARGUMENT: this is no BroadcastRequest' Sync/Broadcast ffffff \
    'RESOURCE_EXHAUSTED' Sync/Broadcast "$(printf 'ab%.0s' {1..5000})" \
    'FAILED_PRECONDITION: RdmaSession before Broadcast' Session/RdmaSession 0801 \
    'UNIMPLEMENTED' Session/Nothing 0801
controller_stop

step "what the switch refuses is what the workers hear, and who does not come is named"
controller_start slots=0
worker_start 0 0 1 5 f300
workers_fail 'FAILED_PRECONDITION: the switch says: .*slots: 0 is out of range' 0
controller_stop
controller_start --wait=2
worker_start 0 0 3 5 f300
workers_fail 'DEADLINE_EXCEEDED: ranks 1, 2: not come within 2 s' 0
controller_stop

step "a job that the switch may have begun, and is slow to end; who comes meanwhile is in a session nevertheless"
has_been_asked() { # TIMES COMMAND
    [ "$(grep -c "$2" "$NET_DIR/switch.log")" -ge "$1" ]
}
net_background "$NET_DIR/switch.log" "$(dirname "${BASH_SOURCE[0]}")/session_switch.py" "$NET_DIR/switch.ctl"
OTHER=$!
net_until 60 "it listens" grep -q listens "$NET_DIR/switch.log"
CONTROLLED=$NET_DIR/switch.ctl controller_start
touch "$NET_DIR/switch.ctl.refuses"
worker_start 0 0 1 5 f300
workers_fail 'UNAVAILABLE: the switch does not answer' 0
worker_start 1 0 2 6 f300
rank_says 60 1 "calls Sync/Broadcast"
is_asked_again() { # COMMAND: more than once since this began, so that one question began after it
    has_been_asked $((before + 2)) "$1"
}
before=$(grep -c 'job del' "$NET_DIR/switch.log")
net_until 60 "its job is to be deleted" is_asked_again 'job del'
touch "$NET_DIR/switch.ctl.slow"
rm "$NET_DIR/switch.ctl.refuses"
before=$(grep -c 'job del' "$NET_DIR/switch.log")
worker_start 2 1 2 6 f300
rank_says 60 2 "calls Sync/Barrier"
rm "$NET_DIR/switch.ctl.slow"
net_until 60 "their job begins" has_been_asked 2 'job add'
kill -KILL "${RANK_PID[@]}"
ranks_wait 30
RANK_PID=()
net_until 60 "it is deleted when they have gone" has_been_asked $((before + 1)) 'job del'
controller_stop
CONTROLLED=$NET_DIR/switch.ctl controller_start --wait=2
worker_start 0 0 1 7 f300
net_until 60 "a job of one is to begin" has_been_asked 3 'job add'
sleep 4 # a slow switch makes no worker late
refuses grep "not come within" "$NET_DIR/controller.log"
kill -KILL "${RANK_PID[0]}"
ranks_wait 30
RANK_PID=()
controller_stop
kill -TERM "$OTHER"
wait "$OTHER" || true

step "a controller that is started again finds its jobs"
# It does not know of their connections: a worker that stands still for a while is not to have gone.
controller_start --gone=600 threads=2 slots=$((2 * WINDOW))
worker_start 0 0 1 6 f3000 forever
rank_says 60 0 "tensor 1 is right"
controller_stop
controller_start --gone=600 threads=2 slots=$((2 * WINDOW))
controller_says 'is of an earlier process'
rank_says 60 0 "tensor 5 is right"
jobs_are 1 || fail "the job has ended"
kill -KILL "${RANK_PID[0]}"
ranks_wait 30
worker_start 0 0 1 7 f300 # while the job of the first is there yet
ranks_succeed 60
controller_stop
controller_start
net_until 60 "no job is left" jobs_are 0
controller_stop
net_swagg_stop
