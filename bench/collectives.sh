#!/usr/bin/env bash
# script/bench collectives  calls that are posted: how much of one is hidden behind computing, and how fast eight small ones are
# Takes 1 minutes a run and 0 once; a look takes 1.
#
# Measures: collectives.sh RUNS DIRECTORY. Leaves DIRECTORY/RUN,LINKS,posted.json, of bench-posted, of which collectives.py makes figures.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

runs=$1
records=$2
rounds=5

rank() { # RANK
    net_exec "$1" "$NET_BUILD/bench/bench-posted" "$(net_switch_ip)" "$1" 4 "$rounds" >"$NET_DIR/rank$1.out" || return
    [ "$1" != 0 ] || mv "$NET_DIR/rank0.out" "$NET_DIR/new.json"
}

net_begin bench
net_hosts 4
for ((run = 1; run <= runs; run++)); do
    for links in 200mbit none; do
        net_limit "$links"
        start_swagg 0
        record "$links,posted" on_all_ranks 4 rank
        printf '  run %s: posted, %s: %s\n' "$run" "$links" "$(cat "$(record_of "$links,posted")")"
        net_swagg_stop
    done
done
