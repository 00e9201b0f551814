#!/usr/bin/env bash
# Types what docs/first-steps.md tells a new user to type, but for installing, in a network and a /run of its own.
set -euo pipefail
# shellcheck source=script/lib/help.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../script/lib/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ -z "${FIRST_STEPS_ALONE:-}" ]; then
    FIRST_STEPS_ALONE=1 exec unshare --mount --net --pid --fork --kill-child "$0"
fi
mount -t tmpfs none /run
mount -t proc proc /proc
ip link set lo up
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" build/first*' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export SWAGG_ANSWER_TIMEOUT_MS=300000 SWAGG_JOIN_TIMEOUT_MS=300000

# What is indented, up to the section on installing. A user waits until what runs in the background is there, and his machine does not stand
# still for seconds: here, who is slow is not lost, and a ping is tried again.
{
    printf 'set -e -m\nready() { timeout 300 sh -c "until build/swaggctl/swaggctl switches | grep -q .; do sleep 0.1; done"; }\n'
    sed -n '/^## Installing/q; /^    script\/bootstrap$/d; /^    script\/build$/d; s/^    //p' docs/first-steps.md |
        sed -E -e 's/^(build\/(server|swagg)\/.* &)$/\1\nready/' \
            -e 's/(server|switch): \{ip: [0-9.\/]+\}\\n/&timers: {lost_after_ms: 60000}\\n/' \
            -e 's/swagg-perf /&--answer-timeout 300000 --timeout 300000 /' -e 's/^ip netns exec first0 ping .*/until &; do :; done/'
} >"$scratch/typed"
bash "$scratch/typed" >"$scratch/said" 2>&1 </dev/null || {
    cat "$scratch/said"
    exit 1
}

expect() { # COUNT REGEX
    local count
    count=$(grep -Ec -- "$2" "$scratch/said" || true)
    [ "$count" -eq "$1" ] || { printf 'first steps: %d times "%s", not %d:\n' "$count" "$2" "$1"; cat "$scratch/said"; exit 1; }
}

expect 1 'swagg\[0\]: .*offloaded 50 calls, '
expect 2 'swagg\[0\]: switch 127.0.0.1: offloaded [0-9]+ calls'
expect 2 '^model '
expect 1 '^received +[1-9]'
expect 1 'first-switch.yaml: good: 2 ports'
expect 2 ' 1 received, 0% packet loss'
expect 2 '^# Out of bounds values : 0 OK'
expect 2 '^(switchml +)?send_all +[1-9][0-9][0-9]' # of the server, whose ranks share a host, and of the switch
expect 1 'rank 0: .* retransmitted'
expect 1 'swagg-ps: stopping: Terminated'
expect 1 'swagg: stopping: Terminated'
