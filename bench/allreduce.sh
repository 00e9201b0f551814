#!/usr/bin/env bash
# script/bench allreduce   allreduce and reduce of MPI programs, with swagg and with plain Open MPI on a Linux bridge
# Takes 2 minutes a run and 0 once; a look takes 2.
#
# Measures: allreduce.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,SETTING,VARIANT,OP.json, of which allreduce.py makes figures. All
# variants take turns in each run, so that a machine that grows slower does so for all.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LIMITED_TENSOR="20M 2 1"
FREE_TENSOR="16M 8 2"
[ -z "$quick" ] || LIMITED_TENSOR="8M 2 1"
RING=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4)

on_bridge() {
    net_bridge
    measure "$setting,openmpi" allreduce "$tensor"
    measure "$setting,openmpi_ring" allreduce "$tensor" "${RING[@]}"
    measure "$setting,openmpi" reduce "$tensor"
    net_bridge_remove
}

# With what swagg switches on for its ports.
on_merging_bridge() {
    local port
    net_bridge
    for ((port = 0; port < NET_HOSTS; port++)); do
        ip netns exec "$NET_ID-sw" ethtool -K "p$port" gro on rx-udp-gro-forwarding on >/dev/null
    done
    measure "$setting,openmpi_merging" allreduce "$tensor"
    for ((port = 0; port < NET_HOSTS; port++)); do
        ip netns exec "$NET_ID-sw" ethtool -K "p$port" gro off rx-udp-gro-forwarding off >/dev/null
    done
    net_bridge_remove
}

on_swagg() {
    start_swagg 0
    measure_offloaded "$setting,swagg" allreduce "$tensor"
    measure_offloaded "$setting,swagg" reduce "$tensor"
    measure "$setting,openmpi_through_swagg" allreduce "$tensor"
    net_swagg_stop
}

on_one_lcore() {
    start_swagg 0 "lcores: [{rx: [all], tx: [all], aggregate: [0]}]"
    measure_offloaded "$setting,swagg_one_lcore" allreduce "$tensor"
    net_swagg_stop
}

on_af_packet() {
    NET_DEVICE=net_af_packet start_swagg 0
    measure_offloaded "$setting,swagg_af_packet" allreduce "$tensor"
    net_swagg_stop
}

on_lossy_swagg() { # NAME PROBABILITY
    start_swagg "$2"
    measure_offloaded "$setting,swagg_loss_$1" allreduce "$tensor"
    net_swagg_stop
}

net_begin bench
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    setting=200mbit tensor=$LIMITED_TENSOR
    net_limit 200mbit
    on_bridge
    on_swagg
    on_lossy_swagg 0.1pct 0.001
    on_lossy_swagg 1pct 0.01
    setting=cpu tensor=$FREE_TENSOR
    net_limit none
    on_bridge
    on_merging_bridge
    on_swagg
    on_one_lcore
    on_af_packet
done
