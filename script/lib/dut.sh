# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what is shared with netns.sh, memif.sh and the benchmark
# One lcore of swagg, or of a peer, as the device under test between memifs, and swagg-source on another CPU: for benchmarks. On
# top of script/lib/netns.sh and script/lib/memif.sh. Sets cpus, source_cpu, dut_cpu, eal_memory, swagg_memory.
#
# Whoever uses it has $records, a directory, $run, and $seconds that each measurement takes. DUT_SETTINGS: further lines of
# swagg's configuration.

IN_FLIGHT=256 # frames: of all workers together; between stations, in each direction
MEMORY=256    # MB, for each process
PHASES=$((1 << 22))

# The last two CPUs: the first one has most of the interrupts.
memif_cpus
source_cpu=${cpus[-2]}
dut_cpu=${cpus[-1]}
# The devices' other threads sleep on the source's CPU, the first of these. Not on their own: memif's control thread, which
# unmaps the rings when the source has gone, must not do so while it keeps the polling thread off the CPU in the midst of using
# them, or that crashes.
taskset -cp "$source_cpu,$dut_cpu" $$ >/dev/null

# Hugepages for two processes, if the kernel has them: MEMORY pages of 2 MB. They are given back at the end.
# shellcheck source=script/lib/hugepages.sh
. "$NET_LIB/hugepages.sh"
take_hugepages() {
    NET_AT_END=hugepages_give_back
    if hugepages_take "$MEMORY"; then
        eal_memory=(--in-memory -m "$MEMORY")
        swagg_memory=hugepages
    else
        eal_memory=(--no-huge --no-shconf -m "$MEMORY")
        swagg_memory=no-huge
    fi
    echo "  memory: $swagg_memory"
}

start_swagg() { # PORTS SIZE WORKERS SLOTS [REPLAY]
    memif_config "$NET_DIR/swagg.yaml" "$1" "$2"
    swagg_settings "$3" "$4" "${5:-}" >>"$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
}

swagg_settings() { # WORKERS SLOTS REPLAY
    cat <<END
lcores: [{cpu: $dut_cpu, rx: [all], tx: [all], aggregate: [0]}]
memory: {mode: $swagg_memory, megabytes: $MEMORY}
idle: {max_sleep_us: 0}
${DUT_SETTINGS:-}
replay: [{workers: $1, slots: $2, phases: $PHASES${3:+, $3}}]
END
}

# The source copies nothing (zero-copy): what a packet costs is what the device under test does with it. Larger bursts than
# those of the devices keep it ahead of them.
play() { # DEVICE WHAT PORTS SIZE [OPTION...]
    local name="$1,$2" ports=$3 size=$4
    local MEMIF_CLIENT=,zero-copy=yes MEMIF_EAL=(--lcores "0@$source_cpu" "${eal_memory[@]}" --single-file-segments)
    shift 4
    memif_source_start "$ports" "$size" --seconds "$seconds" --burst 64 --json "$records/$run,$name.json" "$@"
    printf '  run %s: %-28s %s\n' "$run" "$name" "$(sed -n 2p "$NET_DIR/source.log")"
}

played() {
    memif_source_end || fail "the source failed: $(cat "$NET_DIR/source.log")"
}

aggregate() { # WHAT PORTS SIZE WORKERS [REPLAY [OPTION...]]
    local what=$1 ports=$2 size=$3 workers=$4 slots=$((IN_FLIGHT / $4)) replay=${5:-}
    shift $(($# < 5 ? 4 : 5))
    start_swagg "$ports" "$size" "$workers" "$slots" "$replay"
    play swagg "$what,$size" "$ports" "$size" --workers "$workers" --slots "$slots" "$@"
    net_swagg_stop
    played
}
