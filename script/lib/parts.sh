# shellcheck shell=bash
# Benchmarks of several parts. bench/parts/PART.sh defines a function PART, which does one run of its measurements ($run) and leaves
# files in $records; bench/parts/PART.py makes figures of them (bench/parted.py). After netns.sh, by bench/NAME.sh RUNS DIRECTORY ""|quick [PART...].

# shellcheck disable=SC2034 # quick: the parts'
records=$2 quick=$3 wanted=("${@:4}")

# Allreduces by swagg-perf, rank i on host i, which joins the switch that PERF_SWITCH prints of it, or the only one. Rank 0's report is
# the record $run,NAME.
perf_ranks() { # NAME RANKS OPTION...
    on_all_ranks "$2" perf_rank "$@"
}

perf_rank() { # NAME RANKS OPTION... RANK
    local rank=${*: -1}
    # shellcheck disable=SC2154 # run: of measure_parts
    net_exec "$rank" "$NET_BUILD/bench/swagg-perf" --switch "$("${PERF_SWITCH:-net_switch_ip}" "$rank")" --rank "$rank" --size "${@:2:$# - 2}" \
        --json "$records/$run,$1.json" >"$NET_DIR/perf$rank.log" 2>&1 || fail "$1: $(cat "$NET_DIR/perf$rank.log")"
}

# As many runs of every part, or of those that were asked for ($wanted, none: all). A part makes the hosts that it needs; they are taken
# down after it.
measure_parts() { # RUNS PART...
    local runs=$1 part run chosen=()
    shift
    for part; do
        if [ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $part "* ]]; then
            # shellcheck source=/dev/null
            . "$NET_ROOT/bench/parts/$part.sh"
            chosen+=("$part")
        fi
    done
    [ "${#chosen[@]}" -gt 0 ] || net_die "has no part ${wanted[*]}; there are: $*"
    for ((run = 1; run <= runs; run++)); do
        for part in "${chosen[@]}"; do
            "$part"
            net_hosts_remove
        done
    done
}
