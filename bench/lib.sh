# shellcheck shell=bash
# What the benchmarks of MPI programs share: one measurement is one run of mpi-perf on the hosts of script/lib/netns.sh.
# The caller sets $records, where the tables go, and $run.

# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
MPI_PERF=$NET_BUILD/bench/mpi-perf
SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so

# Leaves $records/$run,NAME,OP.json.
measure() { # NAME OP "BYTES ITERATIONS WARM-UPS" [MPIRUN OPTION...]
    local name=$1 op=$2 bytes iterations warmups file
    read -r bytes iterations warmups <<<"$3"
    shift 3
    # shellcheck disable=SC2154 # the caller's
    file=$records/$run,$name,$op.json
    net_mpirun 4 "$@" -- "$MPI_PERF" --op "$op" -b "$bytes" -e "$bytes" -n "$iterations" -w "$warmups" \
        --json "$file" >"$NET_DIR/mpi.log" 2>&1
    printf '  run %s: %s, %s: %.3f s\n' "$run" "$op" "$name" "$(seconds "$file")"
}

seconds() { # FILE
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["median_us"] / 1e6)' "$1"
}

# The same through the shim; the sums must have been the switch's.
measure_offloaded() { # NAME OP "BYTES ITERATIONS WARM-UPS"
    local before
    before=$(net_telemetry /swagg/counters results)
    measure "$@" -x "LD_PRELOAD=$SHIM" -x "SWAGG_SWITCH=$(net_switch_ip)" -x SWAGG_FALLBACK=error
    [ "$(net_telemetry /swagg/counters results)" -gt $((before + 10000)) ] || fail "the switch did not add these: $1 $2"
}

# A fresh daemon; every frame is lost with this probability in either direction of every port.
start_swagg() { # PROBABILITY [YAML...]
    local NET_IMPAIR="{rx: {drop: $1}, tx: {drop: $1}}"
    [ "$1" != 0 ] || NET_IMPAIR=
    shift
    net_swagg_config "$NET_DIR/swagg.yaml" "seed: $run" "$@"
    net_swagg_start "$NET_DIR/swagg.yaml"
}
