#!/usr/bin/env bash
# script/bench atp         ATP: one job, losses, packets that are forwarded, jobs that compete, congestion; --part
# Takes 12 minutes a run and 0 once; a look takes 4.
#
# Measures: atp.sh RUNS DIRECTORY ""|quick [PART...]. Each part leaves DIRECTORY/RUN,PART,WHAT.json (script/lib/parts.sh).
#
# Three workers and a parameter server, each on a host with a link of 100 Mbit/s to the switch.
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck source=script/lib/parts.sh
. "$NET_LIB/parts.sh"

WORKERS=3
SERVER=3            # its host
ECN_ABOVE=50000     # bytes that wait for a port: some 20 frames
SLOTS=1024          # a job's, by either protocol: chunks under way, at most

# Workers, the server and so many further hosts.
atp_hosts() { # [FURTHER]
    net_hosts $((WORKERS + 1 + ${1:-0}))
    net_limit 100mbit
    NET_SERVER_THREADS=1 net_server_start "$SERVER"
}

atp_switch() { # [YAML...]
    # shellcheck disable=SC2034 # for net_swagg_config
    local NET_PORT="ecn_above: $ECN_ABOVE"
    net_swagg_with "seed: $run" "$@"
}

# How a job reaches who sums.
by_atp() {
    printf -- '--protocol\natp\n--server\n%s\n' "$(net_ip "$SERVER")"
}
by_switchml() {
    printf -- '--switch\n%s\n' "$(net_switch_ip)"
}

switch_verdicts() {
    if [ -n "$NET_SWAGG_PID" ]; then net_telemetry /swagg/verdicts; else echo '{}'; fi
}

rank() { # JOB RANK ARG...
    net_exec "$2" "$NET_BUILD/bench/swagg-perf" --job "job$1" --rank "$2" --size "$WORKERS" --mode arrival --slots "$SLOTS" \
        --timeout 300000 --json "$NET_DIR/perf$1.json" "${@:3}" >"$NET_DIR/rank$1.$2.log" 2>&1
}

# So many jobs at once on the same hosts. Leaves $records/$run,PART,WHAT.json: each job's rows, what has passed the server's link in
# both directions, what the switch has done since it was started, and the time of day. OFFSET: each job's calls begin so many ms after those of the job before (--pause).
measure() { # PART,WHAT JOBS BY ARG...
    local jobs=$2 job rank pids=() args sent received pid to=$records/$run,$1.json
    mapfile -t args < <("by_$3")
    [ ! -s "$to" ] || return 0
    rm -f "$NET_DIR"/perf*.json
    received=$(net_carried "$SERVER" rx) sent=$(net_carried "$SERVER" tx)
    for ((job = 0; job < jobs; job++)); do
        for ((rank = 0; rank < WORKERS; rank++)); do
            rank "$job" "$rank" "${args[@]}" "${@:4}" --offset $((job * ${OFFSET:-0})) &
            pids+=($!)
        done
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || fail "$1: $(tail -n 3 "$NET_DIR"/rank*.log)"
    done
    printf '{"ended": %s, "to_server": %s, "from_server": %s, "switch": %s, "jobs": [%s]}\n' "$(date +%s.%N)" $(($(net_carried "$SERVER" rx) - received)) \
        $(($(net_carried "$SERVER" tx) - sent)) "$(switch_verdicts)" "$(cat "$NET_DIR"/perf*.json | tr '\n' ' ' | sed 's/\] *\[/], [/g')" >"$to"
    printf '  run %s: %-34s %s\n' "$run" "$1" "$(python3 -c 'import json, sys
print(*("%.1f" % (rows[0]["bytes"] * 8 / rows[0]["mean_us"]) for rows in json.load(open(sys.argv[1]))["jobs"]), "Mbit/s")' "$to")"
}

net_begin atp
measure_parts "$1" atp_alone atp_loss atp_forwarding atp_jobs atp_congestion
