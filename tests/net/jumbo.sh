#!/usr/bin/env bash
# Jumbo frames over kernel interfaces: chunks of up to 2240 elements, odd ones, and ranks whose MTUs differ.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin jumbo
net_hosts 4 9000
net_swagg_with "mtu: 9000" "memory: {mode: no-huge, megabytes: 448}"

step "frames of 9000 bytes are switched whole"
reaches 0 "$(net_ip 3)" -M "do" -s 8972
reaches 1 "$(net_switch_ip)" -M "do" -s 8972

step "2240 elements in a packet"
ranks_run full 4 --sizes 1,2234,2235,2236,2239,2240,2241,4475,4479,100003 --calls 20
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" 'job full: ready: .* chunk_bytes 8960'
ranks_run arrival 4 --mode arrival --sizes 2240,100003 --calls 20

for mtu in 8994 4998 562; do # 2239, 1240 and 131 elements of 4 bytes
    step "MTU $mtu"
    ranks_run "odd$mtu" 4 --mtu "$mtu" --sizes 1,126,131,132,1239,1241,2239,100003 --calls 20
done

step "one rank with a smaller MTU: the least counts"
RANK_PID=()
rank_start least 0 2 --mtu 1498 --sizes 1,365,366,2240
rank_start least 1 2 --sizes 1,365,366,2240
ranks_succeed 60

step "a switch with a smaller MTU than the hosts': packets have its"
net_swagg_stop
net_swagg_config "$NET_DIR/small.yaml"
net_swagg_start "$NET_DIR/small.yaml"
ranks_start small 4 --sizes 1,364,365,366,2240,100003
net_until 10 "rank 0 is in" grep -q '1460 bytes a packet' "$NET_DIR/rank0.log"
ranks_succeed 60

net_swagg_stop
