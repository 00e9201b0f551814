#!/usr/bin/env bash
# Run in two hosts, as rank 0 and 1, until it is ended: what others can do to a job on their switch. A job of two ranks sums as fast
# as it can, disagrees about what it sums, and is killed, over and over; a stranger joins, and forges the packets of VICTIM.
# hostile.sh RANK SWITCH_IP BUILD VICTIM_IP
set -uo pipefail
rank=$1 switch=$2 build=$3 victim=$4
here=$(dirname "${BASH_SOURCE[0]}")

"$here/forge.py" "$switch" "$victim" &
"$here/../../tests/net/stranger.py" "$switch" victim 2 &
while true; do
    for bytes in 4M 4M $((1024 * (1 + rank)))K; do # the third time, the ranks disagree
        timeout -s KILL 2 "$build/bench/swagg-perf" --switch "$switch" --job "hostile" --size 2 --rank "$rank" -b "$bytes" \
            -e "$bytes" -n 100000 -w 0 -c 0 --timeout 2000 || true
    done
done
