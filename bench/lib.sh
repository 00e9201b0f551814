# shellcheck shell=bash
# What the benchmarks of MPI programs share: one measurement is one run of a program on the hosts of script/lib/netns.sh, and
# leaves one file, its record. What has a record already is not measured again, so that a benchmark which failed half-way goes on
# from there. The caller sets $run; and $ranks, if there are not 4 of them.

# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck disable=SC2034 # the benchmarks'
runs=$1 records=$2 quick=${3:-}
MPI_PERF=$NET_BUILD/bench/mpi-perf
SHIM=$NET_BUILD/mpi-shim/libswagg-mpi.so

record_of() { # NAME
    # shellcheck disable=SC2154 # run: the caller's
    echo "$records/$run,$1.json"
}

# Leaves $records/$run,NAME.json, which the command writes as $NET_DIR/new.json.
record() { # NAME COMMAND...
    local name=$1 new=$NET_DIR/new.json
    shift
    [ ! -s "$(record_of "$name")" ] || return 0
    rm -f "$new"
    "$@" >"$NET_DIR/mpi.log" 2>&1 || fail "$name: $*: status $?"
    ! grep 'is not a setting and was ignored' "$NET_DIR/mpi.log" || fail "$name: $*: what was to be set is not measured"
    [ -s "$new" ] || fail "$name: $*: has written nothing"
    mv "$new" "$(record_of "$name")"
}

# Leaves $records/$run,NAME,OP.json. SETTLE: ms of calls before those that count.
measure() { # NAME OP "BYTES ITERATIONS WARM-UPS [SETTLE]" [MPIRUN OPTION...]
    local name=$1 op=$2 bytes iterations warmups settle
    read -r bytes iterations warmups settle <<<"$3"
    shift 3
    record "$name,$op" perf_of_both $((iterations + warmups)) "${ranks:-4}" "$@" -- "$MPI_PERF" --op "$op" -b "$bytes" -e "$bytes" \
        -n "$iterations" -w "$warmups" --settle "${settle:-0}" --json "$NET_DIR/new.json"
    printf '  run %s: %s, %s: %.3f s\n' "$run" "$op" "$name" "$(seconds "$(record_of "$name,$op")")"
}

# mpi-perf says how much CPU time a call has taken of the ranks; swagg's is added.
perf_of_both() { # CALLS MPIRUN-ARGUMENT...
    local before
    before=$(net_swagg_cpu)
    net_mpirun "${@:2}" || return
    python3 - "$NET_DIR/new.json" "$1" "$before" "$(net_swagg_cpu)" <<'END'
import json, sys
path, (calls, before, after) = sys.argv[1], map(float, sys.argv[2:])
with open(path) as f:
    rows = json.load(f)
rows[0]["switch_cpu_us"] = (after - before) / calls * 1e6
with open(path, "w") as f:
    json.dump(rows, f)
END
}

seconds() { # FILE
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["median_us"] / 1e6)' "$1"
}

# What mpirun is told, so that a program goes through the shim. SWITCHES: by which, unless it is the only one.
offloading() {
    printf -- '-x\nLD_PRELOAD=%s\n-x\nSWAGG_SWITCH=%s\n' "$SHIM" "${SWITCHES:-$(net_switch_ip)}"
}

# The same through the shim; the sums must have been the switch's, also where the shim would measure that Open MPI is faster.
measure_offloaded() { # NAME OP "BYTES ITERATIONS WARM-UPS" [MPIRUN OPTION...]
    local before options
    [ ! -s "$(record_of "$1,$2")" ] || return 0
    before=$(net_telemetry /swagg/counters results)
    mapfile -t options < <(offloading)
    measure "$@" "${options[@]}" -x SWAGG_MIN_BYTES=8K -x SWAGG_FALLBACK=error
    [ "$(net_telemetry /swagg/counters results)" -gt $((before + 10000)) ] || fail "the switch did not add these: $1 $2"
}

# A fresh daemon; every frame is lost with this probability in either direction of every port.
start_swagg() { # PROBABILITY [YAML...]
    local NET_IMPAIR="{rx: {drop: $1}, tx: {drop: $1}}"
    [ "$1" != 0 ] || NET_IMPAIR=
    shift
    net_swagg_with "seed: $run" "$@"
}

# A rank of what is recorded: rank 0's words are the record.
recorded_rank() { # RANK HOST COMMAND...
    net_exec "$2" "${@:3}" >"$NET_DIR/rank$1.out" || return
    [ "$1" != 0 ] || mv "$NET_DIR/rank0.out" "$NET_DIR/new.json"
}
