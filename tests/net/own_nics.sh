#!/usr/bin/env bash
# Ranks whose packets a NIC's queue pairs carry (options.transport roce), in jobs with ranks on the kernel's sockets. The NIC is a stand-in
# (tests/support/rdma_device.c); tests/drivers/rxe has the kernel's.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export LD_LIBRARY_PATH=$NET_BUILD/lib/client
DEVICE=$NET_BUILD/tests/support/rdma_device.so

rank_by_nic() { # JOB RANK SIZE [ARGUMENT...]
    SWAGG_TEST_RDMA=$(net_ip $(($2 % NET_HOSTS))) LD_PRELOAD=$DEVICE rank_start "$@" --transport roce
}

# As ranks_start, of the ranks up to SIZE; those from FIRST on have NICs.
mixed_start() { # FIRST JOB SIZE [ARGUMENT...]
    local rank
    RANK_PID=()
    for ((rank = 0; rank < $3; rank++)); do
        if [ "$rank" -lt "$1" ]; then rank_start "$2" "$rank" "${@:3}"; else rank_by_nic "$2" "$rank" "${@:3}"; fi
    done
}

nics_said() { # FIRST SIZE REGEX
    local rank
    for ((rank = $1; rank < $2; rank++)); do
        expect_match "what rank $rank's NIC says" "$(rank_log "$rank")" "test0: $3"
    done
}

# Sums are right, and what carried them was the NIC.
mixed_run() { # FIRST JOB SIZE [ARGUMENT...]
    mixed_start "$@"
    ranks_succeed 120
    nics_said "$1" "$3" "[1-9][0-9]{2,} packets sent, [1-9][0-9]{2,} received"
}

nics_joined() { # FIRST SIZE: packets were sent several as one message
    local rank packets messages
    for ((rank = $1; rank < $2; rank++)); do
        read -r packets messages < <(sed -nE 's/.*test0: ([0-9]+) packets sent.*; ([0-9]+) messages.*/\1 \2/p' <<<"$(rank_log "$rank")")
        [ "$messages" -lt "$packets" ] || fail "rank $rank's NIC has sent $packets packets as $messages messages"
    done
}

opens() { # STATUS REGEX ARGUMENT...: what a rank alone says that cannot open
    expect_end "$1" "$2" net_exec 3 env LD_PRELOAD="$DEVICE" timeout 300 "$COLLECTIVES" --switch "$(net_switch_ip)" --job alone --rank 0 --size 1 "${@:3}"
}

net_begin own_nics
net_hosts 4

step "sums are exact, of all sizes and types, by NICs alone"
net_swagg_with
mixed_run 0 sums 4 --sizes 1,365,366,100003 --calls 20
expect_match "what rank 0 says" "$(rank_log 0)" "data packets go by RoCE"
expect_match "what rank 0 says" "$(rank_log 0)" "1012 bytes a packet" # of 1024 that the device carries

step "with ranks on sockets; with checksums from end to end"
mixed_run 2 checksums 4 --checksum crc32c --calls 20
expect_equal "refused sends" "$(net_telemetry /swagg/drops roce_refused_bad_send)" 0

step "tensors are read by the NIC itself, which may be late: not after a call has ended"
SWAGG_TEST_RDMA_LATE_US=2000 mixed_run 2 registered 4 --register --reduce buffered --sizes 1,365,100003 --calls 40 --message-packets 16
nics_said 2 4 ".*, [1-9][0-9]{2,} of them from several places"
nics_joined 2 4
expect_match "what rank 2 says" "$(rank_log 2)" "the NIC's messages have up to 16 packets"
mixed_run 2 copied 4 --register --checksum crc32c --calls 10 --message-packets 1
nics_said 2 4 ".*, 0 of them from several places"
expect_match "what rank 2 says" "$(rank_log 2)" "the NIC's messages have up to 1 packets"

step "what cannot be is said in words"
opens 3 "no RDMA device that is up has the address 10.77.0.4," --transport roce
opens 3 "no RDMA device mlx5_0 that is up" --transport roce:mlx5_0
opens 3 "options.transport is 'roce:': it must be kernel; or roce," --transport roce:
opens 3 "options.address is for devices of DPDK's" --transport roce --address 10.77.0.103/24
opens 3 "a NIC's queue pair leads to one switch" --transport roce --switch "$(net_switch_ip),10.77.0.253"
opens 3 "options.message_packets is 17: " --transport roce --message-packets 17
SWAGG_TEST_RDMA=$(net_ip 3) SWAGG_TEST_RDMA_PIECES=7 opens 3 "test0 gathers 7 pieces of memory for a message: enough for 3 packets, not 4" \
    --transport roce --message-packets 4
LD_LIBRARY_PATH='' PATH=$PATH opens 3 "libswagg-verbs.so does not load: .*cannot open shared object file" --transport roce
net_swagg_stop

step "frames are lost, doubled and out of order; shards on two lcores"
NET_IMPAIR="{rx: {drop: 0.01, duplicate: 0.01, reorder: 0.005, reorder_by: 4}, tx: {drop: 0.01}}" \
    net_swagg_with "seed: 5" "$(sed -n '/^lcores:/,/^$/p' "$NET_ROOT/conf/separate-threads.yaml")"
mixed_run 1 lossy 4 --calls 20 --message-packets 8
nics_joined 1 4
net_swagg_stop

step "the switch is killed in the midst of calls, and started anew"
net_swagg_with
mixed_start 2 restarts 4 --until-told
ranks_outlive_a_kill 0 3
net_swagg_stop
