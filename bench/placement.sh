#!/usr/bin/env bash
# script/bench placement   one lcore for everything, and the ways to deal the same work to several
# Takes 1 minutes a run and 0 once; a look takes 1.
#
# Measures: placement.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,FORM,FRAME.json, of which placement.py makes figures. The forms
# take turns in each run, between the same two memifs; swagg-source, on the first CPU, plays eight workers. A form that needs
# more CPUs than there are besides is left out.
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck source=script/lib/memif.sh
. "$NET_LIB/memif.sh"

runs=$1
records=$2
frames=(192 1516 9018)
seconds=1
if [ -n "${3:-}" ]; then
    frames=(1516)
    seconds=0.3
fi
WORKERS=8
SLOTS=32
JUMBO_SLOTS=8 # about as many bytes on their way: with more, caches decide, and every run otherwise
MEMORY=256 # MB, for each process; ordinary pages
MEMIF_CLIENT=,zero-copy=yes

# NAME: the tasks of each lcore, as the configuration has them.
forms=(
    "one: rx: [all], tx: [all], aggregate: [0]"
    "ports_apart: rx: [p0], tx: [p0], aggregate: [0] | rx: [p1], tx: [p1], aggregate: [1]"
    "aggregation_apart: rx: [all], tx: [all] | aggregate: [0]"
    "receiving_apart: rx: [all] | tx: [all], aggregate: [0]"
    "sending_apart: rx: [all], aggregate: [0] | tx: [all]"
    "p_2x: rx: [all], tx: [all] | aggregate: [0] | aggregate: [1]"
    "2p_x: rx: [all] | tx: [all] | aggregate: [0]"
    "ports_and_aggregation_apart: rx: [p0], tx: [p0] | rx: [p1], tx: [p1] | aggregate: [0]"
    "ports_apart_and_one_more: rx: [p0], tx: [p0], aggregate: [0] | rx: [p1], tx: [p1], aggregate: [1] | aggregate: [2]"
)

memif_cpus
MEMIF_EAL=(--lcores "0@${cpus[0]}" --no-huge --no-shconf -m "$MEMORY" --single-file-segments)

# Writes the lcores' YAML; fails where there are too few CPUs.
lcores() { # TASKS
    local tasks=$1 lcore=() i
    mapfile -t lcore <<<"${tasks// | /$'\n'}"
    [ "${#lcore[@]}" -lt "${#cpus[@]}" ] || return 1
    echo "lcores:"
    for i in "${!lcore[@]}"; do
        echo "  - {cpu: ${cpus[i + 1]}, ${lcore[i]}}"
    done
}

measure() { # NAME FRAME LCORES
    local name=$1 frame=$2 slots=$SLOTS
    ! memif_is_jumbo "$frame" || slots=$JUMBO_SLOTS
    memif_config "$NET_DIR/swagg.yaml" 2 "$frame" "$3" "idle: {max_sleep_us: 0}" \
        "memory: {mode: no-huge, megabytes: $MEMORY}" "pool: {megabytes: 16}" \
        "replay: [{workers: $WORKERS, slots: $slots, phases: 4194304}]"
    net_swagg_start "$NET_DIR/swagg.yaml"
    memif_source_start 2 "$frame" --workers "$WORKERS" --slots "$slots" --seconds "$seconds" --burst 64 \
        --json "$records/$run,$name,$frame.json"
    printf '  run %s: %-28s %5s bytes: %s\n' "$run" "$name" "$frame" "$(sed -n 2p "$NET_DIR/source.log")"
    net_swagg_stop
    memif_source_end || fail "$name: $(cat "$NET_DIR/source.log")"
}

net_begin placement
for ((run = 1; run <= runs; run++)); do
    for frame in "${frames[@]}"; do
        for form in "${forms[@]}"; do
            if yaml=$(lcores "${form#*: }"); then
                measure "${form%%:*}" "$frame" "$yaml"
            fi
        done
    done
done
