# shellcheck shell=bash
# shellcheck disable=SC2154 # of atp.sh and parts.sh
# One job of whose chunks the switch passes on some share, for the server to add.

atp_forwarding() {
    local share calls=3
    [ -z "$quick" ] || calls=1
    atp_hosts
    for share in 0 0.25 0.5 0.75 1; do
        atp_switch "atp: {aggregators: 4096, forward: $share}"
        measure "atp_forwarding,$share" 1 atp -b 8M -e 8M -n "$calls" -w 1
        net_swagg_stop
    done
}
