#!/usr/bin/env bash
# Collectives of libswagg through the switch: every size, type and kind, each sum checked by the rank that holds it.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The published example, as it is shipped but for what all tests change.
net_begin collectives
net_hosts 4
{ cat "$NET_ROOT/conf/four-hosts.yaml" && printf '%s\n' "${NET_SETTINGS[@]}"; } >"$NET_DIR/four-hosts.yaml"
net_swagg_start "$NET_DIR/four-hosts.yaml"

step "sizes around every edge: none, one element, a chunk less or more, a window, a pool, and odd ones"
ranks_run edges 4 --sizes 0,1,2,3,31,32,33,359,360,361,364,365,366,725,730,731,1000,4099,65537,186881,200003

step "tens of mebibytes"
ranks_run large 4 --sizes 3M --seed 2

step "whatever comes"
ranks_run mixed 4 --calls 300 --largest 200K --seed 3

step "sums on arrival instead of ordered"
ranks_run arrival 4 --mode arrival --sizes 1,365,100003 --calls 50 --seed 4

step "one rank alone, two, and eight on four hosts"
ranks_run alone 1 --sizes 0,1,100003 --calls 20
ranks_run two 2 --sizes 1,100003 --calls 20
ranks_run eight 8 --sizes 1,365,100003 --calls 50 --seed 5

step "the benchmark's program finds every sum right"
perf() { # RANK OPTION...
    net_exec "$1" "$NET_BUILD/bench/swagg-perf" --switch "$(net_switch_ip)" --job perf --rank "$@" --size 2 -b 4 -e 4K -f 4 -n 2 -w 0 \
        --answer-timeout 300000 --timeout 300000 --json "$NET_DIR/perf.json" >"$NET_DIR/perf.$1.log" 2>&1 || fail "swagg-perf: $(cat "$NET_DIR/perf.$1.log")"
}
for options in "" "--type half" "--type bfloat16" "--type int64 --op reduce" "--numbers int32" "--numbers fp16" "--protocol auto" \
    "--protocol atp --window 20" "--protocol atp --mode arrival --server $(net_switch_ip)"; do
    # shellcheck disable=SC2086 # one word an option
    perf 1 $options &
    peer=$!
    # shellcheck disable=SC2086
    perf 0 $options
    wait $peer
    grep -q '^# Out of bounds values : 0 OK$' "$NET_DIR/perf.0.log" || fail "swagg-perf $options: $(cat "$NET_DIR/perf.0.log")"
    rows=$(python3 -c 'import json, sys; print(len([row for row in json.load(open(sys.argv[1])) if row["mean_us"] > 0]))' "$NET_DIR/perf.json")
    expect_equal "sizes in the table of swagg-perf $options" "$rows" 6
done

step "a model's training, replayed: gradients of its size, as they become ready"
replay() { # RANK OPTION...
    net_exec "$1" "$NET_BUILD/replay/swagg-replay" "$NET_ROOT/replay/profiles/ncf.profile" --switch "$(net_switch_ip)" --job replay \
        --rank "$@" --size 2 --scale 100 -n 3 -w 0 -o answer_timeout_ms=300000 -o join_timeout_ms=300000 -o call_timeout_ms=300000 \
        --json "$NET_DIR/replay.json" >"$NET_DIR/replay.$1.log" 2>&1 || fail "swagg-replay: $(cat "$NET_DIR/replay.$1.log")"
}
for options in "" "--bucket 1 -o numbers=int32" "-o compression=thc"; do
    # shellcheck disable=SC2086 # one word an option
    replay 1 $options &
    peer=$!
    # shellcheck disable=SC2086
    replay 0 $options
    wait $peer
    python3 - "$NET_DIR/replay.json" <<'END' || fail "swagg-replay $options: $(cat "$NET_DIR/replay.json")"
import json, sys
said = json.load(open(sys.argv[1]))
assert said["wrong"] == 0 and len(said["steps_ms"]) == 3 and said["calls"] >= 3, "sums, steps, calls"
assert said["step_ms"] >= said["computing_ms"] >= 46 and said["step_ms"] >= said["communication_ms"] > said["overlap_ms"] >= 0, "times"
END
done

step "a window of one and two slots"
ranks_run narrow 4 --window 1 --sizes 1,5000
ranks_run few 4 --slots 2 --sizes 1,5000

step "two jobs at once"
ranks_start first 4 --calls 100 --seed 6
ranks_aside first
ranks_run second 4 --calls 100 --seed 7
ranks_back
ranks_succeed 60

step "slots and jobs are given back"
net_until 10 "no job is left" jobs_are_gone
net_swagg_stop

step "1,024 ranks, a quarter of them on each of four hosts"
net_swagg_config "$NET_DIR/many.yaml" "limits: {workers: 1024}"
net_swagg_start "$NET_DIR/many.yaml"
RANK_PID=()
for rank in 0 256 512 768; do
    rank_start_on $((rank / 256)) many "$rank" 1024 --ranks 256 --calls 2 --largest 500 --seed 3
done
ranks_succeed 300
expect_equal "ranks whose sums were right" "$(cat "$NET_DIR"/rank{0,256,512,768}.log | grep -c ': 2 collectives right')" 1024

net_swagg_stop
