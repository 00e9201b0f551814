#!/usr/bin/env bash
# Several queues a port, dealt to two lcores: the kernel spreads flows over them; sums, pings and TCP stay right.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

net_begin queues
net_hosts 4

config() { # RX_QUEUES TX_QUEUES YAML...
    local rx=$1 tx=$2
    shift 2
    net_swagg_config "$NET_DIR/swagg.yaml" "$@"
    sed -i "s/kernel:p[0-9]\"/&, rx_queues: $rx, tx_queues: $tx/" "$NET_DIR/swagg.yaml"
}

all_work() {
    local host flow
    for host in 1 2 3; do
        reaches 0 "$(net_ip "$host")"
        reaches "$host" "$(net_switch_ip)" -s 1472
    done
    ranks_run queues 8 --sizes 1,365,366,50021 --calls 20 --largest 100K
    transfer 0 3 -n 8M -P 8
    # Flows fall on queues by their hash: so many that they do not all miss one.
    for flow in {1..5}; do
        ranks_run "flow$flow" 4 --sizes 1000
    done
}

# The switch's UDP ports that rank 0 sends its data to, of a job that is large enough to use them all.
data_ports() { # JOB
    local pid
    net_background "$NET_DIR/ports.log" ip netns exec "$NET_ID-h0" "$here/data_ports.py" 100
    pid=$!
    net_until 5 "the listener listens" grep -q listens "$NET_DIR/ports.log"
    ranks_run "$1" 4 --sizes 100003 --calls 4
    net_until 40 "the listener has heard enough" net_gone "$pid"
    tail -n 1 "$NET_DIR/ports.log"
}

busy() { # LCORE: it has received, as one that never does would not
    [ "$(net_telemetry "/swagg/lcore,$1" received)" -gt 500 ] || fail "lcore $1 received next to nothing"
}

two_lcores() {
    config 2 2 "lcores:" "  - {rx: [all:0], tx: [all:0], aggregate: [0]}" "  - {rx: [all:1], tx: [all:1], aggregate: [1]}"
}

step "two queues each way on two lcores"
two_lcores
net_swagg_start "$NET_DIR/swagg.yaml"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "spreads frames over 2 queues"
all_work
busy 1
busy 2
expect_equal "receive queues of lcore 2" "$(net_telemetry /swagg/lcore,2 rx | xargs)" "[ h0:1, h1:1, h2:1, h3:1 ]"
[ "$(net_telemetry /swagg/counters taken_over)" -gt 0 ] || fail "no packet crossed to its shard's lcore"
expect_equal "data ports" "$(data_ports dealt)" "48864 48865"
net_swagg_stop

step "two receive queues, one sending queue, aggregation apart, and links that drop and reorder"
NET_IMPAIR='{rx: {drop: 0.002, reorder: 0.002}, tx: {drop: 0.002}}' \
    config 2 1 "lcores:" "  - {rx: [all:0], tx: [all]}" "  - {rx: [all:1]}" "  - {aggregate: [0]}"
net_swagg_start "$NET_DIR/swagg.yaml"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "spreads frames over 2 queues"
ranks_run lossy 8 --sizes 1,365,100003 --calls 20
net_swagg_stop

step "three queues on one lcore"
config 3 1 "lcores: [{rx: [all], tx: [all], aggregate: [0]}]"
net_swagg_start "$NET_DIR/swagg.yaml"
all_work
expect_equal "data ports" "$(data_ports not_dealt)" "48864"
net_swagg_stop

step "a job outlives switches with two queues, one, and two again"
two_lcores
net_swagg_start "$NET_DIR/swagg.yaml"
ranks_start outlives 4 --until-told --largest 600K --pause 5 --seed 9
for again in "config 1 1" two_lcores; do
    net_until 20 "the job is under way" more_results_than 1000
    net_swagg_kill
    $again
    net_swagg_start "$NET_DIR/swagg.yaml"
done
job_ends
expect_match "what rank 0 says" "$(rank_log 0)" '2 resumed'
net_swagg_stop

step "queues that nobody would poll are refused, with file, line and key"
NET_DEVICE=net_af_packet net_swagg_config "$NET_DIR/bad.yaml"
sed -i '3s/framecnt=2048/framecnt=2048,qpairs=2/' "$NET_DIR/bad.yaml"
expect_end 2 'bad.yaml:3: ports\[0\].device: .*rx_queues is 1: write ,qpairs=1' "$NET_BUILD/swagg/swagg" --check "$NET_DIR/bad.yaml"
