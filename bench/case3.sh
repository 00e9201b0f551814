#!/usr/bin/env bash
# script/bench case3       MPI_Reduce over TCP, summed on its way by swagg-mpi-proxy, beside the same without, and Open MPI's other ways
# Takes 3 minutes a run and 0 once; a look takes 3.
#
# Measures: case3.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,BYTES,WAY.json, of bench-case3, with what came into the root's port in
# a call. All ways take turns in each run, on the same hosts and links.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/mpi-proxy.sh
. "$NET_LIB/mpi-proxy.sh"

sizes=("262144 20" "1048576 10" "10485760 3")
[ -z "$quick" ] || sizes=("262144 5" "1048576 3" "10485760 1")

# Also while the program begins and ends, which is little beside its calls.
into_root() { # CALLS COMMAND...
    local before
    before=$(net_carried 0 rx)
    "${@:2}" >"$NET_DIR/row.json" || return
    python3 - "$NET_DIR/row.json" $((($(net_carried 0 rx) - before) / $1)) >"$NET_DIR/new.json" <<'END'
import json, sys
(row,) = json.load(open(sys.argv[1]))
print(json.dumps([row | {"into_root": int(sys.argv[2])}]))
END
}

case3() { # WAY reduce|sends BYTES CALLS [MPIRUN OPTION...]
    record "$3,$1" into_root $(($4 + 1)) proxy_mpirun "${@:5}" -- "$NET_BUILD/bench/bench-case3" "$2" "$3" "$4" 1
    printf '  run %s: %s bytes, %-12s %s\n' "$run" "$3" "$1" "$(cat "$(record_of "$3,$1")")"
}

# The proxy must have made the sums.
by_proxy() { # WAY reduce|sends BYTES CALLS [PROXY OPTION...]
    [ ! -s "$(record_of "$3,$1")" ] || return 0
    proxy_routes
    proxy_start --others=kept "${@:5}"
    case3 "${@:1:4}"
    proxy_stop
    proxy_routes_end
    grep -q "^sums $(($4 + 1))," "$NET_DIR/proxy.log" || fail "the proxy did not make these sums: $(cat "$NET_DIR/proxy.log")"
}

net_begin case3
net_hosts 4
proxy_network
net_limit 200mbit
for ((run = 1; run <= runs; run++)); do
    for size in "${sizes[@]}"; do
        read -r bytes calls <<<"$size"
        case3 linear reduce "$bytes" "$calls"
        by_proxy linear_proxy reduce "$bytes" "$calls"
        PROXY_ALGORITHM=3 case3 pipeline reduce "$bytes" "$calls" --mca coll_tuned_reduce_algorithm_segmentsize 32768
        PROXY_ALGORITHM=0 case3 chosen reduce "$bytes" "$calls"
        case3 sends sends "$bytes" "$calls"
        by_proxy sends_proxy sends "$bytes" "$calls" --tag=7
    done
done
