#!/usr/bin/env bash
# The P4 program, interpreted, as a switch between real interfaces, and swagg-tofino on its CPU's: hosts reach one another and the
# switch, jobs of libswagg join and get right sums over links that lose packets, even while swagg-tofino is killed, and leave nothing behind.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/net/chip.sh
. "$(dirname "${BASH_SOURCE[0]}")/chip.sh"

net_begin tofino
net_hosts 3

cat >"$NET_DIR/tofino.yaml" <<END
ports:
  - {name: cpu, device: "kernel:cpu"}
  - {name: first, device: "chip:0,speed=100g,fec=rs"}
  - {name: second, device: "chip:1,speed=25g"}
  - {name: third, device: "chip:2"}
switch: {ip: $(net_switch_ip)/24}
timers: {lost_after_ms: 300000}
control: {path: $NET_DIR/ctl}
tenants:
  - {name: lab, jobs: [sealed], key_file: $NET_DIR/lab.key, data_keys: false}
  - {name: all, addresses: [0.0.0.0/0]}
END
key_file lab.key

chip_link

# In a process of its own.
perf() { # RANK OPTION...
    exec ip netns exec "$NET_ID-h$1" "$NET_BUILD/bench/swagg-perf" --switch "$(net_switch_ip)" --rank "$@" --size 3 -f 8 -w 0 \
        --answer-timeout 300000 --timeout 300000 >"$NET_DIR/perf.$1.log" 2>&1
}

perf_start() { # OPTION...
    local rank
    peers=()
    for rank in 0 1 2; do
        perf "$rank" "$@" &
        peers+=($!)
    done
}

perf_wait() { # OPTION...
    local rank
    for rank in "${peers[@]}"; do
        wait "$rank" || fail "swagg-perf $*: $(cat "$NET_DIR"/perf.*.log)"
    done
    grep -q '^# Out of bounds values : 0 OK$' "$NET_DIR/perf.0.log" || fail "swagg-perf $*: $(cat "$NET_DIR/perf.0.log")"
}

perf_all() { # OPTION...
    perf_start "$@"
    perf_wait "$@"
}

counter() { # NAME
    switch_exec "${helper[@]}" --show | python3 -c "import json, sys; print(json.load(sys.stdin)['counters']['$1'])"
}

# What operators see and change.
operated() {
    shows 'up' --only link port second
    shows '^third *absent$' --only name,link ports # somebody else is to bring it up, and nobody has
    net_until 30 "stations are shown" shows "$(net_mac 1) *second" fdb
    [ "$(ctl --json verdicts | python3 -c 'import json, sys; print(json.load(sys.stdin)["send_all"] > 0)')" = True ] || fail "no sums are shown"
    ctl fdb add "$(net_mac 2)" third
    ctl fdb flush
    shows "$(net_mac 2) *third *static" fdb
    reaches 1 "$(net_ip 2)"
    ctl fdb del "$(net_mac 2)"
    shows "$(net_mac 2) *third *learned" fdb
    ctl port down second
    shows disabled --only link port second
    net_exec 1 ping -q -c1 -W1 "$(net_ip 0)" && fail "frames pass a port that is down"
    ctl port up second
    reaches 1 "$(net_ip 0)"
    expect_end 1 'lcores: a Tofino has no polling threads' ctl lcores
    kill -HUP "$switch" # as where a service is reloaded, or a terminal closed
    net_until 30 "swagg-tofino has read its file" grep -q 'reload: .*: nothing has changed' "$NET_DIR/switch.log"
    shows "$(net_switch_ip)" --only name status
}

has_summed() { # RESULTS
    [ "$(counter send_all)" -ge "$1" ]
}

# False if the job was over before its rank was stopped: then another time.
stopped_while_it_runs() {
    net_until 60 "no other job is there" keeps running 0
    perf_start --job sealed --key-file "$NET_DIR/lab.key" -b 32K -e 32K -n 50 --numbers int32 --type int32
    net_until 120 "the job runs, or all is over" runs_or_is_over
    kill -STOP "${peers[2]}"
    net_until 60 "the slots wait for a rank, or all is over" waits_or_is_over
    ! net_gone "${peers[0]}" && ! net_gone "${peers[2]}" && return
    kill -CONT "${peers[2]}"
    perf_wait --job sealed
    return 1
}

runs_or_is_over() {
    keeps running 1 || net_gone "${peers[0]}"
}

waits_or_is_over() {
    shows '^2$' --only missing slots sealed || net_gone "${peers[0]}"
}

# Nobody notices that swagg-tofino is killed while ranks wait in a collective for one that is stopped.
killed_while_it_runs() {
    local boot_id rank
    until stopped_while_it_runs; do :; done
    shows '^sealed *running *lab$' --only name,state,tenant jobs
    boot_id=$(kept boot_id)
    switch_kill
    switch_start
    net_until 60 "the job goes on" grep -q 'job sealed: goes on: 3 of 3 ranks' "$NET_DIR/switch.log"
    for rank in "${peers[@]}"; do
        net_gone "$rank" && fail "the job had ended before swagg-tofino was there again: $(cat "$NET_DIR"/perf.*.log)"
    done
    kill -CONT "${peers[2]}"
    perf_wait --job sealed
    grep -q joined "$NET_DIR/switch.log" && fail "a rank has joined again: $(cat "$NET_DIR/switch.log")"
    expect_equal "the boot id" "$(kept boot_id)" "$boot_id"
}

step "a helper that hangs ends swagg-tofino, with a word about it"
expect_end 1 "the helper has answered nothing for 1 s: does the switch's software hang" switch_exec timeout 300 \
    "$NET_BUILD/tofino/swagg-tofino" --state "$NET_DIR/jobs" --helper-timeout 1 "$NET_DIR/tofino.yaml" -- sleep 1000

for chip in tofino tofino2; do
    helper_of "$chip"
    chip_start "$chip" 0.01
    switch_start

    step "$chip: hosts reach one another, and the switch"
    reaches 0 "$(net_ip 1)"
    reaches 1 "$(net_ip 2)"
    reaches 2 "$(net_switch_ip)"

    step "$chip: sums of integers and floats are right where one packet in a hundred is lost"
    perf_all --job integers -b 4 -e 8K -n 2 --numbers int32 --type int32
    perf_all --job floats -b 4 -e 8K -n 2 --numbers int32 --type float

    step "$chip: operators see what the chip does, and change it"
    operated

    step "$chip: what it cannot add it refuses, and says what to do"
    (perf 0 --job doubles -b 4 -e 8 -n 2 --type float) && fail "there should have been no job"
    expect_match "what the rank says" "$(cat "$NET_DIR/perf.0.log")" 'int32 with exponents only: set options.numbers'

    if [ "$chip" = tofino ]; then
        step "$chip: a job goes on, with right sums, where swagg-tofino is killed and started again"
        killed_while_it_runs
    fi

    step "$chip: nothing of the jobs is left"
    net_until 60 "jobs are over" keeps running 0
    net_until 60 "jobs are closed" chip_has_no_jobs
    has_summed 1 || fail "no sums were counted"
    switch_stop
    chip_stop
done
