#!/usr/bin/env bash
# A port that gets more than its link carries drops the rest, and counts it; it does not hold up the other ports.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg congestion

step "a host sends far more than the other's link carries: the switch drops at that port"
reaches 0 "$(net_ip 1)"
tc -n "$NET_ID-sw" qdisc replace dev p1 root tbf rate 10mbit burst 32kb limit 1mb
ip netns exec "$NET_ID-h0" "$(dirname "${BASH_SOURCE[0]}")/blast.py" "$(net_ip 1)" &
blast=$!
net_until 20 "frames are dropped" prints -ge 1000 net_telemetry /swagg/drops,h1 tx_full

step "meanwhile other ports are served"
reaches 2 "$(net_ip 3)"
reaches 2 "$(net_switch_ip)"

step "when the burst is over, so is the congestion"
kill "$blast"
wait "$blast" 2>/dev/null || true
net_limit_device none "$NET_ID-sw" p1
net_until 10 "h1 is reached again" net_exec 0 ping -q -c1 -W1 "$(net_ip 1)"
net_swagg_stop
