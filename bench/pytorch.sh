#!/usr/bin/env bash
# script/bench pytorch     a step of PyTorch's DistributedDataParallel through swagg and through gloo, and a call from Python, or by NCCL's plugin, beside one from C
# Takes 3 minutes a run and 0 once; a look takes 3.
#
# Measures: pytorch.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,LINKS,WAY.json, of bench/parts/ddp_rank.py, DIRECTORY/RUN,calls,LANGUAGE,TURN.json, and
# DIRECTORY/RUN,nccl.json, of bench-nccl. All ways take turns in each run: gloo over a Linux bridge, swagg as the hosts' only switch.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$(dirname "${BASH_SOURCE[0]}")/../script/bootstrap" torch

steps=5
turns=4 # of calls from Python and from C, whose ranks are not on the same CPUs each time
[ -z "$quick" ] || steps=1 turns=1

rank() { # WAY RANK
    recorded_rank "$2" "$2" /usr/bin/python3 -W ignore "$NET_ROOT/bench/parts/ddp_rank.py" "$1" "$steps" "$2" 4 "$(net_ip 0)" "$(net_switch_ip)"
}

measure_step() { # LINKS WAY
    record "$1,$2" on_all_ranks 4 rank "$2"
    printf '  run %s: %s, %s: %s\n' "$run" "$1" "$2" "$(cat "$(record_of "$1,$2")")"
}

perf() { # RANK
    net_exec "$1" "$NET_BUILD/bench/swagg-perf" --switch "$(net_switch_ip)" --job perf --size 4 -b 8 -e 1M -f 128K -n 200 -w 10 \
        --json "$NET_DIR/new.json" --rank "$1"
}

nccl() { # RANK
    recorded_rank "$1" "$1" "$NET_BUILD/bench/bench-nccl" "$(net_switch_ip)" "$1" 4 10
}

net_begin bench
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    for links in 200mbit none; do
        net_limit "$links"
        net_bridge
        measure_step "$links" gloo
        net_bridge_remove
        start_swagg 0
        measure_step "$links" swagg
        measure_step "$links" swagg+fp16_hook
        measure_step "$links" swagg+thc_hook
        if [ "$links" = none ]; then
            for ((turn = 1; turn <= turns; turn++)); do
                record "calls,python,$turn" on_all_ranks 4 rank calls
                record "calls,c,$turn" on_all_ranks 4 perf
            done
            record nccl on_all_ranks 4 nccl
        fi
        net_swagg_stop
    done
done
