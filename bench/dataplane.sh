#!/usr/bin/env bash
# script/bench dataplane   one lcore of swagg, aggregating and switching, beside one of testpmd that only forwards
# Takes 4 minutes a run and 0 once; a look takes 4.
#
# Measures: dataplane.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,DEVICE,WHAT.json, of which dataplane.py makes figures. Both
# devices under test take turns on the same CPU, between the same memifs, with the same frames; swagg-source has another.
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck source=script/lib/memif.sh
. "$NET_LIB/memif.sh"
# shellcheck source=script/lib/dut.sh
. "$NET_LIB/dut.sh"

runs=$1
records=$2
sizes=(64 128 192 256 512 1024 1076 1516 9018)
seconds=1
if [ -n "${3:-}" ]; then
    sizes=(64 192 1076 1516 9018)
    seconds=0.3
fi
replayed=(192 1076 1516 9018)
free=(192 1516 9018)
LCORES_ROUNDS=11
loads=(50 90 0) # in an open loop: percent of what the workers of a closed one came to; 0: as much as the port takes

NET_NAME=dataplane # for what is said before net_begin
type -t dpdk-testpmd >/dev/null || net_die "there is no dpdk-testpmd, the peer: install Debian's package dpdk-dev"

testpmd_pid=

start_testpmd() { # PORTS SIZE TOPOLOGY
    local i devices=()
    for ((i = 0; i < $1; i++)); do
        devices+=("$(memif_device "$i" "$2" server)")
    done
    start_testpmd_on "$2" "$3" "${devices[@]}"
}

start_testpmd_on() { # SIZE TOPOLOGY DEVICE...
    local size=$1 topology=$2
    shift 2
    rm -f "$NET_DIR/testpmd.log" "$NET_DIR/testpmd.in"
    # It ends when its input does, so when this script does, however.
    mkfifo "$NET_DIR/testpmd.in"
    ip netns exec "$NET_ID-sw" stdbuf -oL dpdk-testpmd --lcores "0@$source_cpu,1@$dut_cpu" "${eal_memory[@]}" --no-pci \
        --file-prefix="$NET_ID-testpmd" "${@/#/--vdev=}" -- --auto-start --forward-mode=macswap --burst=64 --nb-cores=1 \
        --port-topology="$topology" --total-num-mbufs=$((4096 + 4096 * $#)) \
        --mbuf-size="$(memif_is_jumbo "$size" && echo 10368 || echo 2176)" >"$NET_DIR/testpmd.log" 2>&1 <"$NET_DIR/testpmd.in" &
    testpmd_pid=$!
    exec {testpmd_input}>"$NET_DIR/testpmd.in"
    net_until 20 "testpmd forwards" grep -q 'Press enter' "$NET_DIR/testpmd.log"
}

stop_testpmd() {
    kill -TERM "$testpmd_pid"
    exec {testpmd_input}>&-
    net_until 10 "testpmd has stopped" net_gone "$testpmd_pid"
    wait "$testpmd_pid" || fail "testpmd failed"
}

# The workers do not wait for their sums.
offer() { # LOAD
    local PHASES=4 rate
    rate=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["answers_pps"] * int(sys.argv[2]) / 100)' \
        "$records/$run,swagg,aggregated,1076.json" "$1")
    aggregate "offered_$1" 1 1076 8 "" --rate "$rate" --phases "$PHASES"
}

switch() { # SIZE [WHAT]
    start_swagg 2 "$1" 2 "$IN_FLIGHT"
    play swagg "${2:-switched},$1" 2 "$1" --mode bridge --slots "$IN_FLIGHT"
    net_swagg_stop
    played
}

# Back out of the port where they came in: what aggregation is compared with.
return_frames() { # WHAT PORTS SIZE
    start_testpmd "$2" "$3" loop
    play testpmd "$1,$3" "$2" "$3" --mode forward --workers 8 --slots $((IN_FLIGHT / 8))
    stop_testpmd
    played
}

# Out of the other port: what switching is compared with.
exchange_frames() { # SIZE [WHAT]
    start_testpmd 2 "$1" paired
    play testpmd "${2:-exchanged},$1" 2 "$1" --mode bridge --slots "$IN_FLIGHT"
    stop_testpmd
    played
}

# A capture of the workers' streams, over and over, from a device that copies frames out of memory and drops what it is to send.
replay() { # SIZE
    local PHASES=4 slots=$((IN_FLIGHT / 8)) capture=$NET_DIR/workers.pcap
    local device="net_pcap0,rx_pcap=$capture,infinite_rx=1"
    "$NET_BUILD/traffic/swagg-pcap" gen -o "$capture" -n 8 -s "$slots" -p "$PHASES" --frame "$1" --type float32 >"$NET_DIR/gen.log"
    {
        printf 'switch: {mac: "%s", ip: %s}\nports: [{device: "%s"}]\n' "$NET_SWITCH_MAC" "$(net_switch_ip)" "$device"
        ! memif_is_jumbo "$1" || echo 'mtu: 9000'
        swagg_settings 8 "$slots" ""
    } >"$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
    count_received "$NET_ID" "swagg,replayed,$1"
    net_telemetry /swagg/counters | python3 -c 'import json, sys; c = json.load(sys.stdin); sys.exit(c["results"] < 0.99 * c["gradients"])' ||
        fail "not every frame of $1 bytes of the capture has brought a sum"
    net_swagg_stop
    start_testpmd_on "$1" loop "$device"
    count_received "$NET_ID-testpmd" "testpmd,replayed,$1"
    stop_testpmd
}

# How many frames the device under test takes from its port in a second.
count_received() { # TELEMETRY NAME
    python3 - "$NET_TELEMETRY" "$1" "$seconds" "$records/$run,$2.json" <<'END'
import json, subprocess, sys, time
telemetry, prefix, seconds, record = sys.argv[1:]
def received():
    count = int(subprocess.check_output([telemetry, prefix, "/ethdev/stats,0", "ipackets"]))
    return count, time.monotonic()
first, begin = received()
time.sleep(float(seconds))
last, end = received()
json.dump({"received_pps": (last - first) / (end - begin)}, open(record, "w"))
END
    printf '  run %s: %-28s %s\n' "$run" "$2" "$(cat "$records/$run,$2.json")"
}

bench_lcore() { # RECORD ARGUMENT... -- EAL ARGUMENT...
    "$NET_BUILD/bench/bench-lcore" "${@:2}" --no-pci --no-telemetry --log-level=error >"$records/$run,$1.json" || fail "$1 was not measured"
    printf '  run %s: %-28s %s\n' "$run" "$1" "$(cat "$records/$run,$1.json")"
}

# One lcore and what bounds it, over a device that moves data for nothing.
over_nothing() { # SIZE|roce cold|warm device|switch
    bench_lcore "lcore,$1,$2,$3" "$@" -- --lcores "0@$dut_cpu" "${eal_memory[@]}"
}

# How many frames two lcores handle in the time of one, each with a device of its own; the source's CPU is free meanwhile.
two_lcores() { # SIZE
    bench_lcore "lcores,$1" "$1" cold device "$LCORES_ROUNDS" -- --lcores "0@$source_cpu,1@$dut_cpu" "${eal_memory[@]}" -m $((2 * MEMORY))
}

# One frame on its way in each direction: what the device under test adds to its way.
one_by_one() { # SIZE
    local IN_FLIGHT=1
    exchange_frames "$1" one_by_one
    switch "$1" one_by_one
}

net_begin dataplane
take_hugepages
for ((run = 1; run <= runs; run++)); do
    for size in "${free[@]}" roce; do
        for memory in cold warm; do
            over_nothing "$size" "$memory" device
            over_nothing "$size" "$memory" switch
        done
    done
    for size in "${free[@]}"; do
        two_lcores "$size"
    done
    one_by_one 64
    for size in "${sizes[@]}"; do
        aggregate aggregated 1 "$size" 8
        return_frames returned 1 "$size"
        exchange_frames "$size"
        switch "$size"
    done
    aggregate two_workers 1 1076 2
    aggregate ordered 1 1076 8 "ordered: true"
    aggregate int32 1 1076 8 "" --type int32
    aggregate no_checksum 1 1076 8 "" --no-udp-checksum
    aggregate eight_ports 8 1076 8
    return_frames eight_ports 8 1076
    for load in "${loads[@]}"; do
        offer "$load"
    done
    for size in "${replayed[@]}"; do
        replay "$size"
    done
done
