#!/usr/bin/env bash
# vhost-user ports: the switch's ends of the NICs of virtual machines and containers. The other ends are DPDK's virtio-user, in processes of
# their own: ranks that have such a device, and one on the kernel's sockets. Ends that go and come; frames of 9000 bytes.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export LD_LIBRARY_PATH=$NET_BUILD/lib/client

socket() { # PORT
    echo "$NET_DIR/vhost$1.sock"
}

vhost_config() {
    local port
    net_swagg_config "$NET_DIR/swagg.yaml" "$@"
    for port in 1 2; do
        sed -i "s|kernel:p$port\"|net_vhost$port,iface=$(socket "$port")\"|" "$NET_DIR/swagg.yaml"
    done
}

vhost_swagg() {
    vhost_config "$@"
    net_swagg_start "$NET_DIR/swagg.yaml"
}

# Ranks 1 and 2 have addresses of their own; those of their hosts' kernels lead nowhere.
guests_start() { # JOB [ARGUMENT...]
    local rank
    RANK_PID=()
    rank_start "$1" 0 3 "${@:2}"
    for rank in 1 2; do
        rank_start "$1" "$rank" 3 "${@:2}" --transport "dpdk:net_virtio_user0,path=$(socket "$rank"),mac=$(net_mac "$rank")" \
            --address "$NET_SUBNET.$((100 + rank))/24" --eal "--no-huge -m 64"
    done
}

links_are() { # WORD...
    [ "$(net_ctl --json ports | python3 -c 'import json, sys; print(*(p["link"] for p in json.load(sys.stdin)["ports"]))')" = "$*" ]
}

net_begin vhost
net_hosts 3 9000

step "sums are exact, of all sizes and types"
vhost_swagg
links_are up down down || fail "an end that nobody has is up"
guests_start sums --mtu 1500 --sizes 1,365,366,100003 --calls 40
ranks_succeed 120
expect_match "what rank 1 says" "$(rank_log 1)" "net_virtio_user0,.* is this process's own"
net_until 30 "the ends are down" links_are up down down

step "ends that were there before can be there again; hosts reach them"
guests_start again --until-told
ranks_say 60 open
links_are up up up || fail "an end that somebody has is down"
reaches 0 "$NET_SUBNET.101" -s 1000
sums_go_on 100
job_ends

step "an end that dies in the midst of calls takes nobody along"
guests_start dies --until-told
ranks_say 60 open
sums_go_on 100
kill -KILL "${RANK_PID[@]}"
ranks_wait 10
net_until 30 "the ends are down" links_are up down down
guests_start after --sizes 1,365,366 --calls 10
ranks_succeed 120
net_swagg_stop

step "frames of 9000 bytes"
vhost_swagg "mtu: 9000" "memory: {mode: no-huge, megabytes: 448}"
guests_start jumbo --mtu 9000 --sizes 1,2239,2240,2241,100003 --calls 20
ranks_succeed 120
net_swagg_stop
