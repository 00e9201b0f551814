# shellcheck shell=bash
# Benchmarks of several parts. bench/parts/PART.sh defines a function PART, which does one run of its measurements ($run) and leaves
# files in $records; bench/parts/PART.py makes figures of them (bench/parted.py). After netns.sh.

# As many runs of every part, or of those that were asked for ($wanted, none: all). A part makes the hosts that it needs; they are taken
# down after it.
measure_parts() { # RUNS PART...
    local runs=$1 part run chosen=()
    shift
    for part; do
        # shellcheck disable=SC2154 # the caller's
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
