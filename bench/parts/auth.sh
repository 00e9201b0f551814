# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with tenancy.sh
# What keyed data packets cost: ranks and switch in one process, without a network, hugepages or devices.

auth() {
    "$NET_BUILD/bench/bench-auth" >"$records/$run,none,auth,turns.json" || fail "bench-auth has failed"
    printf '  run %s: auth\n' "$run"
}
