# shellcheck shell=bash
# shellcheck disable=SC2154 # of operate.sh and parts.sh
# A daemon that is killed and started again while a job sums: sums that are wrong, and the time that calls take for that.

restart() {
    local rank ranks=() down=() times=3 turn began file=$records/$run,restart,all.json
    [ -z "$quick" ] || times=1
    net_hosts 4
    net_swagg_with
    for rank in 0 1 2 3; do
        net_exec "$rank" env SWAGG_LIBRARY="$NET_BUILD/lib/client/libswagg.so.0" /usr/bin/python3 "$NET_ROOT/bench/parts/summing.py" "$(net_switch_ip)" "$rank" 4 >"$NET_DIR/rank$rank.json" 2>"$NET_DIR/rank$rank.log" &
        ranks+=("$!")
    done
    net_until 60 "the job sums" grep -Eq "first|Error" "$NET_DIR/rank0.log"
    for ((turn = 1; turn <= times; turn++)); do
        sleep 3
        began=$EPOCHREALTIME
        net_swagg_kill 2>/dev/null
        net_swagg_start "$NET_DIR/swagg.yaml"
        down+=("$(awk "BEGIN { print $(restart_ready_at) - $began }")")
    done
    sleep 3
    restart_tell_rank_0
    for rank in "${!ranks[@]}"; do
        wait "${ranks[rank]}" || fail "restart: rank $rank: $(cat "$NET_DIR/rank$rank.log")"
    done
    python3 - "$NET_DIR" "${down[@]}" >"$file" <<'END'
import json, sys
ranks = [json.load(open(f"{sys.argv[1]}/rank{rank}.json")) for rank in range(4)]
print(json.dumps(ranks[0] | {"wrong": sum(rank["wrong"] for rank in ranks), "down_s": list(map(float, sys.argv[2:]))}))
END
    printf '  run %s: restart, away for %s s: %s\n' "$run" "${down[*]}" "$(sed 's/.*], "wrong/wrong/' "$file")"
    net_swagg_stop
}

# When the daemon said so, by its log's clock: seconds.
restart_ready_at() {
    date -d "$(awk '/ready:/ { print $1; exit }' "$NET_DIR/swagg.log")" +%s.%3N
}

restart_tell_rank_0() {
    ip netns pids "$NET_ID-h0" | xargs -r ps -o pid=,args= -p | awk '/summing.py/ { print $1 }' | xargs -r kill -TERM
}
