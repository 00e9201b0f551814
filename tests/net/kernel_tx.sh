#!/usr/bin/env bash
# Ports on kernel interfaces send runs of results with one pass through the kernel, which cuts them into real frames.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg kernel_tx "tx_delay_us: 200"

received_by_host() { # FIELD
    ip -n "$NET_ID-h0" -j -s link show dev eth0 | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['stats64']['rx']['$1'])"
}

sent_to_host() { # FIELD
    net_telemetry /swagg/port,h0 "tx_$1"
}

all_are_there() {
    [ "$(received_by_host packets)" = "$(sent_to_host frames)" ] && [ "$(received_by_host bytes)" = "$(sent_to_host bytes)" ]
}

step "sums are right"
ranks_run runs 4 --sizes 1,359,100003,1000003 --calls 8

step "as many frames and bytes arrive as the switch has sent"
net_until 5 "what the switch counts has arrived" all_are_there

step "kernels that segment UDP get runs"
if [ "$(printf '6.2\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.2 ]; then
    [ "$(sent_to_host merged)" -gt 1000 ] || fail "only $(sent_to_host merged) of $(sent_to_host frames) frames merged"
else
    expect_equal "frames merged by a kernel that cannot" "$(sent_to_host merged)" 0
fi

step "frames that may be damaged are sent as they are"
net_swagg_stop
NET_IMPAIR='{tx: {corrupt: 0.01}}' net_swagg_config "$NET_DIR/swagg.yaml" "tx_delay_us: 200"
net_swagg_start "$NET_DIR/swagg.yaml"
ranks_run damaged 4 --sizes 100003 --calls 4
expect_equal "frames merged on an impaired port" "$(sent_to_host merged)" 0
[ "$(ip netns exec "$NET_ID-h0" nstat -az UdpInCsumErrors | awk '/UdpInCsumErrors/ { print $2 }')" -gt 0 ] ||
    fail "no host has seen a damaged frame"

net_swagg_stop
