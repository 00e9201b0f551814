#!/usr/bin/env bash
# What the daemon may do: once it runs it has the capabilities that its ports need and no others, in every thread; a reload adds a port
# all the same. swagg-ps has none at all, and serves.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin_with_swagg privileges

# The capabilities of these numbers (capabilities(7)), as /proc has them.
mask() { # NUMBER...
    local number bits=0
    for number; do
        bits=$((bits | 1 << number))
    done
    printf '%016x' "$bits"
}
KEPT=$(mask 0 12 13 14 23 39) # chown, net_admin, net_raw, ipc_lock, sys_nice, bpf

# What all threads of a process have: a line a kind, if they have the same.
capabilities_of() { # PID
    sed -n 's/^\(Cap[A-Z][a-z]*\|NoNewPrivs\):\t/\1 /p' /proc/"$1"/task/*/status | sort -u
}

step "the daemon keeps what its ports need, and so do all its threads"
expect_equal "threads" "$(($(find "/proc/$NET_SWAGG_PID/task" -mindepth 1 -maxdepth 1 | wc -l) > 3))" 1
expect_equal "what they have" "$(capabilities_of "$NET_SWAGG_PID")" "CapAmb 0000000000000000
CapBnd $KEPT
CapEff $KEPT
CapInh 0000000000000000
CapPrm $KEPT
NoNewPrivs 1"

step "ranks sum, and a port that comes later is a port like others"
ranks_run few 4
net_add_namespaces h4
net_link 4
NET_HOSTS=5
sed -i "s/^ports:/&\n  - {name: h4, device: \"kernel:p4\"}/" "$NET_DIR/swagg.yaml"
net_ctl reload >/dev/null
reaches 4 "$(net_ip 0)"
ranks_run later 5

step "a socket for a group needs no more"
net_swagg_stop
net_swagg_with 'control: {group: daemon}'
expect_equal "its group" "$(stat -L -c %G "/run/swagg/$NET_ID.ctl")" daemon
net_swagg_stop

step "privileges: all, and the daemon keeps what it has"
net_swagg_with 'privileges: all'
expect_equal "what it may do" "$(capabilities_of "$NET_SWAGG_PID" | grep -E '^(CapEff|NoNew)')" "$(capabilities_of $$ | grep -E '^(CapEff|NoNew)')"
net_swagg_stop

step "swagg-ps, of an ordinary user and without any, serves and reloads"
chmod 755 "$NET_DIR"
install -d -o nobody "/run/swagg/$NET_ID-ps" # as its unit does
# shellcheck disable=SC2034 # net_end calls it
NET_AT_END=end_directory
end_directory() {
    rm -rf "/run/swagg/$NET_ID-ps"
}
printf 'server: {ip: %s}\nlimits: {workers: 3}\ntimers: {lost_after_ms: 60000}\n' "$(net_ip 4)" >"$NET_DIR/ps.yaml"
net_bridge
net_background "$NET_DIR/ps.log" ip netns exec "$NET_ID-h4" env RUNTIME_DIRECTORY="/run/swagg/$NET_ID-ps" setpriv --reuid nobody --regid nogroup --clear-groups --bounding-set=-all --no-new-privs \
    "$NET_BUILD/server/swagg-ps" "$NET_DIR/ps.yaml"
server=$!
net_until 20 "it serves" grep -q ' serves at ' "$NET_DIR/ps.log"
expect_equal "what it may do" "$(capabilities_of "$server" | grep -v '^NoNew' | awk '{ print $2 }' | sort -u)" 0000000000000000
sed -i 's/workers: 3/workers: 4/' "$NET_DIR/ps.yaml"
grep -Fxq "$(net_ip 4)" <("$NET_BUILD/swaggctl/swaggctl" switches) || fail "swaggctl does not find it"
"$NET_BUILD/swaggctl/swaggctl" --switch "$(net_ip 4)" reload >/dev/null
ranks_run served 4 --switch "$(net_ip 4)"
kill -TERM "$server"
wait "$server"
expect_equal "what it leaves in its directory" "$(ls "/run/swagg/$NET_ID-ps")" ""
