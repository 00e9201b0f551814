#!/usr/bin/env bash
# Trees of switches with real processes: two and three levels, ranks at every level, losses on every link, and each process
# killed in turn in the middle of collectives.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/tree.sh
. "$NET_LIB/tree.sh"

net_begin hierarchy
#   root ── left ── h0, h1
#     │ └── right ── h2, h3
#     │       └── deep ── h4
#     └── h5
tree_switch root 254
tree_switch left 251 root
tree_switch right 252 root
tree_switch deep 253 right
tree_hosts left 2
tree_hosts right 2
tree_hosts deep 1
tree_hosts root 1
TWO_LEVELS='((0,1),(2,3))'
ALL='((0,1),(2,3,(4)),5)'

rank_switch() { # RANK
    echo "${TREE_IP[${TREE_SWITCH_OF[$1 % NET_HOSTS]}]}"
}

configure() { # [YAML...]: of all switches
    local name
    for name in "${TREE_SWITCHES[@]}"; do
        tree_config "$name" "pool: {megabytes: 16, kept_frames: 512}" "memory: {mode: no-huge, megabytes: 128}" "$@"
    done
}

# Without a restart.
reconfigure() {
    local name
    configure
    for name in "${TREE_SWITCHES[@]}"; do
        tree_ctl "$name" reload >"$NET_DIR/reload-$name.log"
    done
}

# First where ranks are soon lost.
configure "timers: {lost_after_ms: 40000}"
tree_start "${TREE_SWITCHES[@]}"

step "a worker is killed: its peers are told its rank, its level and its switch"
ranks_start killed 6 --calls 1000000 --order "$ALL"
ranks_say 10 open
kill -KILL "${RANK_PID[4]}"
ranks_wait 10
expect_told 'rank 4 \(10.77.0.5, at switch 10.77.0.253 on level 3\)' 0 1 2 3 5

step "a leaf that is killed for good: the others are told which ranks are lost, and where"
ranks_start gone 4 --calls 1000000 --call-timeout 80000 --order "$TWO_LEVELS"
ranks_say 10 open
tree_kill left
ranks_wait 30
# Both, unless the machine stood still while one of them spoke: then he was heard later than the other.
expect_told 'ranks? (0 |1 |and )+\((10.77.0.1, |10.77.0.2, )+at switch 10.77.0.251 on level 2\)' 2 3
expect_told '.' 0 1

for name in root right deep; do
    tree_kill "$name"
done
configure # nobody is to be lost any more
tree_start "${TREE_SWITCHES[@]}"

step "two levels: four hosts, two leaves and a root"
ranks_run two 4 --sizes 0,1,100003 --order "$TWO_LEVELS"

step "a host that says in ARP that it is the root does not get what a leaf sends up"
ip netns exec "$NET_ID-h0" "$(dirname "${BASH_SOURCE[0]}")/arp_forger.py" eth0 "${TREE_IP[left]}" "$(net_ip 0)" "${TREE_IP[root]}"
ranks_run forged 4 --sizes 1,100003 --order "$TWO_LEVELS"
expect_equal "root's MAC addresses in the log" "$(grep -c "uplink to .* is .*, on port" "$NET_DIR/left.log")" 1

step "a job that wants no switch above is summed by the first, and the root hears nothing of it"
before=$(tree_telemetry root /swagg/counters results)
ranks_run alone 2 --sizes 1,100003 --uplink none
expect_equal "results of the root" "$(tree_telemetry root /swagg/counters results)" "$before"

step "three levels, and ranks at each of them"
ranks_run three 6 --sizes 1,100003 --order "$ALL"

step "sums on arrival, with a checksum of their own"
ranks_run arrival 6 --sizes 1,100003 --mode arrival --checksum crc32c

step "a worker that never comes is named"
for rank in 0 1 2; do
    rank_start absent "$rank" 4 --join-timeout 10000 --sizes 1
done
unset 'RANK_PID[3]' 'RANK_PID[4]' 'RANK_PID[5]'
ranks_wait 10
expect_told 'ranks? ([0-9, and]+ )?3' 0 1 2 # beside others, if those come late

step "loss, duplicates and reordering on every link, of which a reload tells the switches"
for name in "${TREE_SWITCHES[@]}"; do
    TREE_IMPAIR[$name]='{rx: {drop: 0.01, duplicate: 0.01, reorder: 0.01}, tx: {drop: 0.01}}'
done
reconfigure
ranks_run lossy 6 --calls 40 --largest 100K --order "$ALL" --seed 7

step "each switch is killed in turn in the middle of collectives, and comes back: nobody notices"
ranks_start restart 6 --until-told --largest 50K --pause 5 --order "$ALL" --seed 9
ranks_say 10 open
for name in left deep right root; do
    before=$(tree_telemetry root /swagg/counters results)
    sums_go_out() {
        [ "$(tree_telemetry root /swagg/counters results)" -gt $((before + 100)) ]
    }
    net_until 10 "sums go out" sums_go_out
    tree_kill "$name"
    tree_start "$name"
done
job_ends
expect_match "what rank 0 says" "$(rank_log 0)" '[1-9] resumed'

step "keys: each switch has one of its own for those below; whoever has none changes no sum, at a leaf or above it"
TREE_IMPAIR=()
for name in "${TREE_SWITCHES[@]}"; do
    TREE_KEY[$name]=$NET_DIR/$name.key
    key_file "$name.key"
done
reconfigure
keyed_start() { # JOB RANKS [ARGUMENT...]
    local rank
    RANK_PID=()
    for ((rank = 0; rank < $2; rank++)); do
        rank_start "$1" "$rank" "$2" --key-file "${TREE_KEY[${TREE_SWITCH_OF[rank % NET_HOSTS]}]}" "${@:3}"
    done
}
keyed_start sums 6 --sizes 0,1,100003 --order "$ALL"
ranks_succeed 60
keyed_start secret 6 --calls 1000000000 --pause 20 --largest 150 --order "$ALL"
ranks_say 10 open
expect_equal "checksum" "$(tree_telemetry deep /swagg/job,secret checksum)" keyed
forge() { # NAMESPACE DEVICE OWN-IP SWITCH
    local rank
    ip netns exec "$NET_ID-$1" "$(dirname "${BASH_SOURCE[0]}")/forger.py" "$2" "${TREE_IP[$4]}" "$3" \
        "$(tree_telemetry "$4" /swagg/job,secret slots)" 500
    net_until 60 "$4 has found a forged packet" prints -gt 0 tree_telemetry "$4" /swagg/verdicts drop_unproven
    for rank in 0 1 2 3 4 5; do # each checks each sum
        kill -0 "${RANK_PID[rank]}" || fail "rank $rank has ended: $(rank_log "$rank")"
    done
}
forge h0 eth0 "$(net_ip 0)" left
forge left uplink "${TREE_IP[left]}" root

step "keys: a leaf and the root are killed and come back"
goes_on() {
    before=$(tree_telemetry root /swagg/counters results)
    net_until 30 "sums go out" sums_go_out
}
for name in right root; do
    tree_kill "$name"
    tree_start "$name"
    goes_on
done
forge left uplink "${TREE_IP[left]}" root

step "a leaf's port toward the root is removed and added again in the middle of a job, which goes on"
tree_ctl left port del uplink
expect_match "the log" "$(cat "$NET_DIR/left.log")" "removed port uplink, by which it was found: its jobs wait"
for rank in 0 1 2 3 4 5; do
    kill -0 "${RANK_PID[rank]}" || fail "rank $rank has ended: $(rank_log "$rank")"
done
tree_ctl left port add uplink kernel:uplink
goes_on
tree_ctl left port down uplink
net_until 10 "what goes up is dropped" prints -gt 0 tree_telemetry left /swagg/drops,uplink port_disabled
tree_ctl left port up uplink
goes_on

step "keys: the root's is changed while the job runs"
cp -p "${TREE_KEY[root]}" "$NET_DIR/old.key"
key_file next.key
{ cat "$NET_DIR/old.key"; echo; cat "$NET_DIR/next.key"; } >"${TREE_KEY[root]}" # the file of the uplinks, too
expect_match "what the root tells" "$(tree_ctl root reload)" 'tenants\[lab\].key_file: keys *- *1 new, 0 retired'
{ cat "$NET_DIR/next.key"; echo; cat "$NET_DIR/old.key"; } >"${TREE_KEY[root]}"
for name in left right; do
    expect_match "what $name tells" "$(tree_ctl "$name" reload)" 'uplink\[0\].key_file: keys *- *1 new, 0 gone'
done
cat "$NET_DIR/next.key" >"${TREE_KEY[root]}"
expect_match "what the root tells" "$(tree_ctl root reload)" '0 new, 1 retired'
goes_on
kill -KILL "${RANK_PID[@]}"
ranks_wait 30
keyed_start anew 6 --sizes 1,1003 --order "$ALL"
ranks_succeed 60

step "keys: a switch without one for its uplink says so"
sed -i 's/\(uplink: .*\), key_file: [^}]*/\1/' "$NET_DIR/right.yaml"
tree_ctl right reload
RANK_PID=()
rank_start refused 2 6 --key-file "${TREE_KEY[right]}" --join-timeout 60000
ranks_wait 90
expect_match "what rank 2 says" "$(rank_log 2)" 'shares no key \(uplink: key_file in its configuration\)'
