#!/usr/bin/env bash
# The same sums however the work is placed on lcores; on which CPUs the lcores are.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin topologies
net_hosts 4

placed() { # TITLE YAML...
    step "$1"
    shift
    net_swagg_with "$@"
    reaches 0 "$(net_ip 3)"
    ranks_run placed 4 --sizes 1,365,366,100003 --calls 40 --largest 100K
    net_swagg_stop
}

placed "the default"
placed "everything on one lcore, one shard" \
    "lcores:" "  - {rx: [all], tx: [all], aggregate: [0]}"
placed "ports on two lcores, four shards dealt to both" \
    "lcores:" "  - {rx: [h0, h1], tx: [h0, h1], aggregate: [0, 1]}" \
    "  - {rx: [h2, h3], tx: [h2, h3], aggregate: [2, 3]}"
placed "aggregation apart from the ports: P + 2X" \
    "lcores:" "  - {rx: [all], tx: [all]}" "  - {aggregate: [0]}" "  - {aggregate: [1]}"
placed "receiving, sending and aggregation apart: 2P + X" \
    "lcores:" "  - {rx: [all]}" "  - {tx: [all]}" "  - {aggregate: [0]}"
placed "a polling loop that never sleeps" \
    "idle: {max_sleep_us: 0}" "lcores:" "  - {rx: [all], tx: [all], aggregate: [0]}"
SWAGG_KERNELS=scalar placed "kernels that every CPU can run"

step "a shard on each of three lcores, and links that drop, double, reorder and damage frames"
NET_IMPAIR='{rx: {drop: 0.005, duplicate: 0.005, reorder: 0.01, corrupt: 0.002}, tx: {drop: 0.005, reorder: 0.01}}' \
    net_swagg_with "lcores:" "  - {rx: [h0, h1], tx: [h0, h1], aggregate: [0]}" \
    "  - {rx: [h2, h3], tx: [h2, h3], aggregate: [1]}" "  - {aggregate: [2]}"
ranks_run impaired 4 --sizes 1,365,366,100003 --calls 40 --largest 100K
for lcore in 1 2 3; do
    [ "$(net_telemetry "/swagg/lcore,$lcore" gradients)" -gt 0 ] || fail "lcore $lcore aggregated nothing"
done

step "polling threads go before other programs while nothing is to be done"
niceness() {
    ps -L -o ni=,comm= -p "$NET_SWAGG_PID" | awk '/rte-worker/ { print $1 }' | xargs
}
if [ "$(nice)" -gt -10 ] && [ "$(nice -n -40 nice 2>/dev/null)" = -20 ]; then # which root may, unless it is confined
    net_until 10 "theirs is -10" prints = "-10 -10 -10" niceness
fi
net_swagg_stop

mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
if [ "${#cpus[@]}" -gt 1 ]; then
    step "each of several daemons polls on a CPU of its own, as long as there are CPUs, and says with whom it shares one"
    # They may use two CPUs, and see a /run/swagg of their own, so that no other daemon of this machine counts.
    mkdir -p "$NET_DIR/run" /run/swagg
    daemon() { # NAME PORT [YAML]
        # shellcheck disable=SC2016 # for the inner shell
        local place=(unshare --mount sh -c 'mount --bind "$1" /run/swagg; shift; exec "$@"' sh "$NET_DIR/run")
        printf 'ports: [{name: only, device: "kernel:%s"}]\nmemory: {mode: no-huge, megabytes: 128}\npool: {megabytes: 1}\n%s\n' "$2" "${3:-}" \
            >"$NET_DIR/$1.yaml"
        net_background "$NET_DIR/$1.log" "${place[@]}" taskset -c "${cpus[0]},${cpus[1]}" ip netns exec "$NET_ID-sw" \
            "$NET_BUILD/swagg/swagg" "$NET_DIR/$1.yaml" -- --file-prefix="$NET_ID-$1"
        PID[$1]=$!
        net_until 30 "$1 is ready" grep -q ready: "$NET_DIR/$1.log"
    }
    polls_on() { # NAME CPU
        expect_equal "the CPU of $1's polling thread" "$("$NET_TELEMETRY" "$NET_ID-$1" /swagg/lcore,1 cpu)" "$2"
    }
    is_alone() { # NAME
        ! grep -q "another swagg" "$NET_DIR/$1.log" || fail "$(grep "another swagg" "$NET_DIR/$1.log")"
    }
    declare -A PID
    daemon a p0
    daemon b p1
    polls_on a "${cpus[1]}"
    polls_on b "${cpus[0]}"
    is_alone a
    is_alone b
    daemon c p2
    polls_on c "${cpus[1]}"
    expect_match "what c says" "$(cat "$NET_DIR/c.log")" "polling thread 1 shares CPU ${cpus[1]} with another swagg, process [0-9]+, for all CPUs have one"
    kill -KILL "${PID[b]}"
    net_until 30 "b has ended" net_gone "${PID[b]}"
    wait "${PID[b]}" || true # with all of its threads
    daemon d p3 "lcores: [{cpu: ${cpus[1]}, rx: [all], tx: [all], aggregate: [0]}]"
    polls_on d "${cpus[1]}"
    expect_match "what d says" "$(cat "$NET_DIR/d.log")" "warning: lcores\\[0\\].cpu: another swagg polls on CPU ${cpus[1]}, process [0-9]+:"
    daemon e p1
    polls_on e "${cpus[0]}"
    is_alone e
fi
