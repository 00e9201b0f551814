#!/usr/bin/env bash
# Switching and sums over each kind of kernel interface that DPDK offers, but for net_af_xdp, which stalls now and then
# (docs/configuration.md).
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

net_begin devices
net_hosts 4
for device in net_af_packet net_pcap; do
    step "$device"
    NET_DEVICE=$device net_swagg_config "$NET_DIR/swagg.yaml"
    net_swagg_start "$NET_DIR/swagg.yaml"
    reaches 0 "$(net_ip 1)"
    reaches 3 "$(net_switch_ip)" -s 1472
    [ "$device" = net_af_packet ] || reaches 1 "$(net_ip 2)" -s 4000 # fragments are frames like others
    ranks_run devices 4 --sizes 1,365,366,100003 --calls 40
    net_swagg_stop
done
