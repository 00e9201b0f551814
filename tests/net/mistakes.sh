#!/usr/bin/env bash
# What users are told who make a mistake: a wrong address, a host that is not there, too few privileges.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg mistakes

asked=$(net_ip 2)
rank_switch() { # RANK
    printf '%s\n' "$asked"
}

step "the address of a host without swagg"
is_told() { # by ICMP, which may come too late
    rank_start nobody 0 1 --answer-timeout 5000
    ranks_wait 120
    grep -q "is there" "$NET_DIR/rank0.log"
}
net_until 20 "it is told" is_told
expect_told "$asked is there, but no swagg runs on it \(UDP port 48863 is closed\)" 0

step "an address that nobody has"
asked=$(net_ip 77)
rank_start nobody 0 1 --answer-timeout 500
ranks_wait 120
expect_told "nothing at $asked answers on UDP port 48863: check that swagg runs there" 0

step "a worker of a host-addressed job that is in no configuration"
refuses net_exec 0 "$NET_BUILD/traffic/swagg-hostagg-worker" --host "$(net_ip 2):5000" --timeout 1 2>"$NET_DIR/worker.log"
expect_match "what it says" "$(cat "$NET_DIR/worker.log")" "nobody answers questions about it: does the way .* hostagg has this worker"
net_swagg_stop

# A swagg of root's that has these capabilities and no others.
swagg_with() { # CAPABILITY...
    exec ip netns exec "$NET_ID-sw" setpriv --inh-caps=-all --bounding-set="-all$(printf ',+%s' "$@")" \
        "$NET_BUILD/swagg/swagg" "$NET_DIR/swagg.yaml" -- --file-prefix="$NET_ID"
}

step "a /run that cannot be written: swagg says so, and switches"
# shellcheck disable=SC2016 # for the inner shell
net_background "$NET_DIR/swagg.log" ip netns exec "$NET_ID-sw" unshare --mount sh -c 'mount -t tmpfs -o ro none /run && exec "$@"' sh \
    "$NET_BUILD/swagg/swagg" "$NET_DIR/swagg.yaml" -- --file-prefix="$NET_ID"
switch=$!
net_until 120 "it is ready" grep -q ' ready: ' "$NET_DIR/swagg.log"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "cannot make the socket for swaggctl, /run/swagg/$NET_ID.ctl: Read-only file system"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "no locks in /run/swagg/interfaces: Read-only file system"
reaches 0 "$(net_ip 1)"
kill -TERM "$switch"
wait "$switch"

step "a /run/swagg that is full: swagg says so, and leaves no half of a record"
{ cat "$NET_DIR/swagg.yaml" && echo 'log_level: info'; } >"$NET_DIR/full.yaml"
# shellcheck disable=SC2016 # for the inner shell
net_background "$NET_DIR/swagg.log" ip netns exec "$NET_ID-sw" unshare --mount sh -c '
    mount -t tmpfs -o size=4k none /run && echo full >/run/all && exec "$@"' sh \
    "$NET_BUILD/swagg/swagg" "$NET_DIR/full.yaml" -- --file-prefix="$NET_ID"
switch=$!
net_until 120 "it is ready" grep -q ' ready: ' "$NET_DIR/swagg.log"
expect_match "the log" "$(cat "$NET_DIR/swagg.log")" "cannot write to /run/swagg: No space left on device; if swagg is killed, interface p0 goes on merging"
expect_equal "records" "$(find "/proc/$switch/root/run/swagg/" -name 'merging-*')" ""
reaches 0 "$(net_ip 1)"
kill -TERM "$switch"
wait "$switch"

step "too few privileges: swagg says which it lacks"
expect_end 1 'cannot open interface p0: .*: be root, or have the capabilities CAP_NET_RAW and CAP_NET_ADMIN' swagg_with sys_nice

step "... and needs no others"
net_background "$NET_DIR/swagg.log" swagg_with net_raw net_admin
NET_SWAGG_PID=$!
net_until 20 "swagg is ready" net_swagg_ready_or_gone
asked=$(net_switch_ip)
ranks_run modest 4
net_swagg_stop
