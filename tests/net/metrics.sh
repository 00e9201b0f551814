#!/usr/bin/env bash
# /metrics of a switch and of a server: off unless the configuration says where, the same numbers as swaggctl, and scrapers that behave
# badly hold up neither data nor others. What Prometheus's own tools say of it: tests/operate.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(dirname "${BASH_SOURCE[0]}")

PORT=9273

scrape() { # NAMESPACE WHAT...
    ip netns exec "$NET_ID-$1" "$here/scraper.py" "127.0.0.1:$PORT" "${@:2}"
}

# The number that a metric has; labels as they are written.
value() { # FILE SERIES
    awk -v series="$2" 'index($0, series " ") == 1 { print $NF; found = 1 } END { exit !found }' "$1"
}

# What is told is in the file then.
has_histogram() { # NAMESPACE FILE JOB RANK
    scrape "$1" get /metrics >"$NET_DIR/$2"
    [ "$(value "$NET_DIR/$2" "swagg_rank_late_seconds_count{job_name=\"$3\",tenant=\"everybody\",rank=\"$4\"}")" -gt 0 ]
}

step "nobody listens unless the configuration says where"
begin_with_swagg metrics
[ -z "$(ip netns exec "$NET_ID-sw" ss -Hltn)" ] || fail "somebody listens: $(ip netns exec "$NET_ID-sw" ss -Hltn)"
net_swagg_stop

step "a mistake in it is told"
printf 'server: {ip: 10.77.0.1}\nmetrics: {listen: "everywhere"}\n' >"$NET_DIR/mistake.yaml"
refuses "$NET_BUILD/server/swagg-ps" --check "$NET_DIR/mistake.yaml" 2>"$NET_DIR/mistake.log"
expect_match "what is said" "$(cat "$NET_DIR/mistake.log")" '"everywhere" is no IPv4 address with a TCP port, like 127.0.0.1:9273'

step "a switch tells what swaggctl tells"
net_swagg_with "metrics: {listen: \"127.0.0.1:$PORT\"}"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "metrics of this switch: http://127.0.0.1:$PORT/metrics"
ranks_start train 4 --calls 20 --largest 50000
ranks_say 60 open
ranks_succeed 120
gradients_agree() { # what ranks sent twice may come after they have ended
    scrape sw get /metrics >"$NET_DIR/switch.txt"
    [ "$(value "$NET_DIR/switch.txt" 'swagg_done_frames_total{what="gradients"}')" = "$(net_ctl -H -o gradients counters | awk '{ print $2 }')" ]
}
net_until 60 "gradients are as many" gradients_agree
expect_equal "ports" "$(value "$NET_DIR/switch.txt" swagg_status_ports)" 4

step "a job and its ranks"
ranks_start waits 4 --until-told --largest 500 --pause 5
ranks_say 60 open
net_until 60 "rank 3 has contributed" has_histogram sw switch.txt waits 3
expect_equal "size" "$(value "$NET_DIR/switch.txt" 'swagg_job_size{job_name="waits",tenant="everybody"}')" 4

step "the page, and what it shows"
scrape sw get / | grep -q "<!doctype html>" || fail "there is no page"
[ "$(scrape sw get / | grep -cE "(src|href)=.?(https?:)?//")" -eq 0 ] || fail "the page wants something from elsewhere"
expect_equal "what it shows" "$(scrape sw get /live | python3 -c '
import json, sys
live = json.load(sys.stdin)
print(len(live["ports"]), live["jobs"][-1]["name"], [rank["rank"] for rank in live["jobs"][-1]["ranks"]])')" "4 waits [0, 1, 2, 3]"

step "bad requests get answers, and a scraper that reads nothing holds up nobody"
scrape sw bad
# Connections that ask and do not read, until it is ended.
net_background "$NET_DIR/hold.log" ip netns exec "$NET_ID-sw" "$here/scraper.py" "127.0.0.1:$PORT" hold
holder=$!
net_until 60 "a scraper holds its places" grep -q held "$NET_DIR/hold.log"
sums_go_on 100
scrape sw get /metrics >"$NET_DIR/again.txt"
expect_equal "ports" "$(value "$NET_DIR/again.txt" swagg_status_ports)" 4
kill "$holder"
job_ends
net_swagg_stop

step "what is reserved outlives a restart, and is told"
net_swagg_with "state: $NET_DIR" "metrics: {listen: \"127.0.0.1:$PORT\"}"
net_ctl job reserve soon job='awaited*' ranks=2 slots=100 for=86400
net_ctl job reserve late ranks=4 for=86400
kept=$NET_DIR/reserved-$(net_switch_ip).json
mkdir "$kept.new" # in the place of what the file is written anew in
expect_match "what the next start would not know" "$(net_ctl job reserve lost ranks=2 for=86400 2>&1 || true)" \
    'lost: it could not be kept in .* \(state\): Is a directory: the next start would not know of it'
expect_match "what the next start would have again" "$(net_ctl job release late 2>&1 || true)" \
    'late is released, but .* \(state\) could not be written: Is a directory: until its time is over'
rmdir "$kept.new"
net_ctl job reserve late ranks=4 for=86400
net_ctl job release late
net_swagg_kill
net_swagg_start "$NET_DIR/swagg.yaml"
expect_equal "reserved" "$(net_ctl -H -o name,job,tenant,ranks,slots,jobs reserved | xargs)" "soon awaited* everybody 2 128 0"
scrape sw get /metrics >"$NET_DIR/reserved.txt"
expect_equal "slots" "$(value "$NET_DIR/reserved.txt" 'swagg_reserved_slots{reservation="soon",jobs="awaited*",tenant="everybody"}')" 128
net_swagg_stop

step "a server tells the same of its jobs"
net_bridge
net_server_start 3 "metrics: {listen: \"127.0.0.1:$PORT\"}" "timers: {lost_after_ms: 60000}"
rank_switch() { net_ip 3; }
RANK_PID=()
for rank in 0 1 2; do
    rank_start_on "$rank" served "$rank" 3 --until-told --largest 500 --pause 5
done
ranks_say 60 open
net_until 60 "rank 2 has contributed" has_histogram h3 server.txt served 2
expect_equal "who is late, by swaggctl" "$(net_server_ctl -H -o rank ranks served)" $'0\n1\n2'
expect_match "ranks" "$(net_server_ctl -j ranks served)" "late_us_log2"
server_has_a_minute() {
    net_server_ctl -H -o job,bytes history served | grep -q "^served  [1-9]"
}
net_until 20 "its minute" server_has_a_minute
expect_match "events" "$(net_server_ctl -H -o what,job events)" "^began +served"
expect_equal "sections of top" "$(net_server_ctl -c 1 -n 0.1 top </dev/null | grep -Ex '[a-z]+' | xargs)" "status jobs"
net_server_ctl config >"$NET_DIR/served.yaml"
"$NET_BUILD/server/swagg-ps" --check "$NET_DIR/served.yaml" >/dev/null
job_ends
net_server_end TERM
