#!/usr/bin/env bash
# Ranks whose packets a device of their own carries (options.transport), in jobs with ranks on the kernel's sockets.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export LD_LIBRARY_PATH=$NET_BUILD/lib/client

MEMIF=2 # the rank that has one; other devices send and receive past the kernel of their host
device_of() { # RANK
    if [ "$1" = "$MEMIF" ]; then
        echo "net_memif0,role=client,socket=$NET_DIR/memif.sock,socket-abstract=no"
    else
        echo net_af_packet0,iface=eth0,framecnt=2048
    fi
}

# The kernels of the hosts have others.
own_address() { # RANK
    echo "$NET_SUBNET.$((100 + $1))"
}

by_device() { # RANK
    printf '%s\n' --transport "dpdk:$(device_of "$1")" --address "$(own_address "$1")/24" --eal "--no-huge -m 64"
}

# As ranks_start, of the ranks up to SIZE; those from FIRST on have devices.
mixed_start() { # FIRST JOB SIZE [ARGUMENT...]
    local rank own
    RANK_PID=()
    for ((rank = 0; rank < $3; rank++)); do
        own=()
        [ "$rank" -lt "$1" ] || mapfile -t own < <(by_device "$rank")
        rank_start "$2" "$rank" "${@:3}" "${own[@]}"
    done
}

mixed_run() { # JOB [ARGUMENT...]
    mixed_start 2 "$1" 4 "${@:2}"
    ranks_succeed 120
}

# The switch's side of rank 2's memif.
mixed_swagg() {
    net_swagg_config "$NET_DIR/swagg.yaml"
    sed -i "s|kernel:p2\"|net_memif0,role=server,socket=$NET_DIR/memif.sock,socket-abstract=no\"|" "$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
}

opens() { # STATUS REGEX ARGUMENT...: what a rank alone says that cannot open
    expect_end "$1" "$2" net_exec 3 timeout 300 "$COLLECTIVES" --switch "$(net_switch_ip)" --job alone --rank 0 --size 1 "${@:3}"
}

net_begin own_devices
net_hosts 4

step "sums are exact, of all sizes and types"
mixed_swagg
mixed_run sums --sizes 1,365,366,100003 --calls 40
expect_match "what rank 2 says" "$(rank_log 2)" "net_memif0,.* is this process's own, MAC .*, MTU 1500"
expect_match "what rank 3 says" "$(rank_log 3)" "net_af_packet0,.* is this process's own"

step "with checksums from end to end, as packets come; in small windows"
mixed_run checksums --checksum crc32c --mode arrival --calls 40
mixed_run window --window 8 --slots 32 --calls 40

step "a device has an address: it answers ARP and ping, while it is there"
mixed_start 2 pinged 4 --until-told
ranks_say 60 open
for rank in 2 3; do
    reaches 0 "$(own_address "$rank")" -s 1000
    [ -d "/run/dpdk/swagg-rank-${RANK_PID[rank]}" ] || fail "the EAL of rank $rank has no directory of its own"
done
job_ends
for rank in 2 3; do
    [ ! -e "/run/dpdk/swagg-rank-${RANK_PID[rank]}" ] || fail "rank $rank has left: $(ls -la "/run/dpdk/swagg-rank-${RANK_PID[rank]}")"
done

step "ranks of one process share a device and its address"
mapfile -t own < <(by_device 3)
RANK_PID=()
rank_start shared 0 4 --calls 40
rank_start shared 1 4 --calls 40
rank_start_on 3 shared 2 4 --ranks 2 --calls 40 "${own[@]}"
ranks_succeed 120

step "what is wrong with a device is said in words"
opens 3 "options.address is missing" --transport dpdk:net_af_packet0,iface=eth0
opens 3 "options.transport is 'dpdk': it must be kernel; or roce, .*; or dpdk: and a device" --transport dpdk
opens 3 "options.address is '10.77.0.103': it must be" --transport dpdk:net_null0 --address 10.77.0.103
opens 3 "the switch 10.77.0.254 is not in its subnet, and there is no options.gateway" --transport dpdk:net_null0 --address 10.78.0.1/24
opens 3 "options.gateway is '10.77.0.1': it must be an IPv4 address in the subnet" --transport dpdk:net_null0 --address 10.78.0.1/24 --gateway 10.77.0.1
opens 3 "options.address is for devices" --address 10.77.0.103/24
opens 3 "DPDK has no device net_af_packet0,iface=eth7: .*ioctl failed" "${own[@]/eth0*/eth7}"
opens 3 "DPDK has no device 0000:7f:00.0" "${own[@]/net_af*/0000:7f:00.0}"
opens 3 "Cannot allocate memory: give DPDK more, by -m MEGABYTES" "${own[@]/--no-huge*/--no-huge -m 1}"
opens 3 "DPDK's EAL does not start: [A-Z].*: EAL: " "${own[@]/--no-huge*/--in-memory -m 10000000}" # so many hugepages nobody has
opens 3 "nothing at 10.77.0.77 answers on UDP port 48863: .*No route to host" "${own[@]}" --switch 10.77.0.77 --answer-timeout 1000
LD_LIBRARY_PATH='' PATH=$PATH opens 3 "libswagg-dpdk.so does not load: .*cannot open shared object file" "${own[@]}"
net_swagg_stop

step "frames are lost both ways"
NET_IMPAIR='{rx: {drop: 0.02}, tx: {drop: 0.02}}' mixed_swagg
mixed_run losses --calls 40
net_swagg_stop

step "the switch is killed in the midst of calls, and started anew"
MEMIF=none # the driver of a memif does not survive that: docs/configuration.md
net_swagg_with
mixed_start 2 restarts 4 --until-told
ranks_outlive_a_kill 0 3
net_swagg_stop
