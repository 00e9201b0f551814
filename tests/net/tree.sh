#!/usr/bin/env bash
# swaggctl tree: one command at a root or at a leaf shows all switches of a tree, also while one is away.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/tree.sh
. "$NET_LIB/tree.sh"

net_begin tree
tree_switch root 254
tree_switch left 251 root
tree_switch right 252 root
tree_hosts left 2
tree_hosts right 1
tree_hosts root 1

rank_switch() { # RANK
    echo "${TREE_IP[${TREE_SWITCH_OF[$1]}]}"
}

# A network of operators': each switch has a link to it, and all have the same list.
net_add_namespaces operators
LIST=
operators_link() { # SWITCH NUMBER
    ip link add "$1" netns "$NET_ID-operators" type veth peer name operators netns "$(tree_namespace "$1")"
    ip -n "$NET_ID-operators" addr add "10.78.$2.1/24" dev "$1"
    ip -n "$NET_ID-operators" link set "$1" up
    ip -n "$(tree_namespace "$1")" addr add "10.78.$2.2/24" dev operators
    ip -n "$(tree_namespace "$1")" link set operators up
    LIST+="${LIST:+, }\"10.78.$2.2:9273\""
}
for i in 0 1 2; do
    operators_link "${TREE_SWITCHES[i]}" "$i"
done
tenants=("" "tenants: [{name: everybody, addresses: [0.0.0.0/0], quota: {jobs: 1}}]" "") # left: one job at a time
for i in 0 1 2; do
    tree_config "${TREE_SWITCHES[i]}" "${tenants[i]}" "pool: {megabytes: 16, kept_frames: 512}" "memory: {mode: no-huge, megabytes: 128}" \
        "metrics: {listen: \"10.78.$i.2:9273\", tree: [$LIST]}"
done
tree_start "${TREE_SWITCHES[@]}"

show() { # SWITCH [OPTION...]: the tree, asked for there
    ip netns exec "$NET_ID-operators" "$NET_BUILD/swaggctl/swaggctl" --switch "$NET_ID-$1" "${@:2}" tree
}

step "a job over two levels, with a link that loses what comes down"
tree_ctl root impair set left tx drop=0.2
ranks_start train 4 --until-told --largest 50000 --pause 2 --order '((0,1),(2),3)'
ranks_say 60 open
# Where results are late some are asked for once more that are on their way.
loses_most() {
    show right -j | python3 -c '
import json, sys
lost = {row["switch"]: row["lost_down"] for row in json.load(sys.stdin)["switches"]}
sys.exit(lost["10.77.0.251"] <= 10 + 2 * lost["10.77.0.252"])'
}
net_until 60 "what left has not got" loses_most

step "swaggctl why tells that link from those of ranks, in both directions"
why_is() { # SWITCH REGEX
    tree_ctl "$1" --every 2 why train >"$NET_DIR/why.txt"
    grep -Eq "$2" "$NET_DIR/why.txt"
}
BELOW='^(also )?link: the link of the switch below that sends for rank 0 \(at 10\.77\.0\.251\) and 1 more loses packets'
net_until 120 "root: the link to left, down" why_is root "$BELOW: .* [1-9][0-9.]* % of those from it"
tree_ctl root impair clear left
tree_ctl root impair set left rx drop=0.2
net_until 120 "root: the link to left, up" why_is root "$BELOW: [1-9][0-9.]* % of those to this switch"
no_link() {
    tree_ctl left --every 2 why train >"$NET_DIR/why.txt"
    not grep -q link: "$NET_DIR/why.txt"
}
net_until 120 "left: none of its own links" no_link
tree_ctl root impair clear left
tree_ctl root impair set left tx drop=0.2

step "the same tree, whoever is asked"
# A switch that does not answer for some seconds is shown as away.
switches_are_shown() { # ASKED-AT
    [ "$(show "$1" -H -o switch,state,ports,link_above | sed '/^$/,$d')" = \
        "$(printf '%s  up  %s  %s\n' '10.77.0.254  ' 3/3 - '  10.77.0.251' 3/3 up '  10.77.0.252' 2/2 up)" ]
}
jobs_are_shown() { # ASKED-AT
    [ "$(show "$1" -j | python3 -c '
import json, sys
for job in json.load(sys.stdin)["jobs"]:
    print(job["switch"], job["job"], job["state"], job["ranks_here"], job["hosts"])')" = \
        "10.77.0.254 train running 3 10.77.0.4
10.77.0.251 train running 0,1 10.77.0.1,10.77.0.2
10.77.0.252 train running 2 10.77.0.3" ]
}
for name in "${TREE_SWITCHES[@]}"; do
    show "$name" | tee "$NET_DIR/tree-$name.log"
    net_until 60 "all switches, asked at $name" switches_are_shown "$name"
    net_until 60 "all jobs, asked at $name" jobs_are_shown "$name"
done
step "a leaf's quota holds for jobs that it passes on"
train=("${RANK_PID[@]}")
ranks_start second 4 --sizes 1 --order '((0,1),(2),3)'
ranks_wait 120
expect_match "why not" "$(cat "$NET_DIR"/rank?.log)" "tenant everybody has 1 jobs .* as many as the tenants\[0\].quota.jobs of a switch"
expect_match "at the leaf" "$(tree_ctl left -H -o name,state jobs)" "train +running"
RANK_PID=("${train[@]}")

step "a leaf is away"
job_ends
tree_kill right
shows() { # REGEX OPTION...
    show left "${@:2}" | grep -E -- "$1"
}
net_until 60 "right is away" shows '10\.78\.2\.2:9273 +away: Connection refused'
those_that_are_there() {
    show root -j | python3 -c '
import json, sys
print([row["switch"] for row in json.load(sys.stdin)["switches"] if row["state"] == "up"])'
}
net_until 60 "the others are there" prints = "['10.77.0.254', '10.77.0.251']" those_that_are_there
tree_kill root
net_until 60 "a leaf without its root" shows '10\.77\.0\.254 +not reached' -o switch,state
refuses show root 2>"$NET_DIR/refused.txt"
expect_match "at one that is away" "$(cat "$NET_DIR/refused.txt")" "nobody answers|there is no switch"
