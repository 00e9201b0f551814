# shellcheck shell=bash
# shellcheck disable=SC2154 # of atp.sh and parts.sh
# Frames lost at random, in both directions of every port, by ATP and in slots of SwitchML's.

atp_loss() {
    local percent calls=4 percents=(0 0.001 0.01 0.1 1)
    if [ -n "$quick" ]; then
        calls=2 percents=(0 0.1 1)
    fi
    atp_hosts
    for percent in "${percents[@]}"; do
        local NET_IMPAIR probability
        probability=$(awk "BEGIN { print $percent / 100 }")
        # shellcheck disable=SC2034 # for net_swagg_config
        NET_IMPAIR="{rx: {drop: $probability}, tx: {drop: $probability}}"
        atp_switch "atp: {aggregators: 4096}"
        measure "atp_loss,switchml,$percent" 1 switchml -b 8M -e 8M -n "$calls" -w 1
        measure "atp_loss,atp,$percent" 1 atp -b 8M -e 8M -n "$calls" -w 1
        net_swagg_stop
    done
}
