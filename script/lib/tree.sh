# shellcheck shell=bash disable=SC2034 # TREE_SWITCH_OF is for who sources this
# A tree of switches out of network namespaces, on top of netns.sh: each switch is a swagg of its own, and the switch of a
# host. All are on one network, so hosts reach all of them; a rank joins the one that it is linked to.
#
#     net_begin tree
#     tree_switch root 254           # a switch with the address 10.77.0.254
#     tree_switch left 251 root      # one below it, linked to it: its port "uplink"
#     tree_hosts left 2              # hosts h0 and h1, linked to it
#     tree_config left "pool: {megabytes: 16}"
#     tree_start root left           # returns when they are ready
#     tree_kill left                 # SIGKILL; tree_start starts it anew
#     tree_telemetry left /swagg/jobs

TREE_SWITCHES=()
declare -A TREE_IP=() TREE_PARENT=() TREE_PORTS=() TREE_PID=() TREE_IMPAIR=() TREE_KEY=()
TREE_SWITCH_OF=() # by host

tree_namespace() { # SWITCH
    echo "$NET_ID-$1"
}

tree_switch() { # NAME LAST-BYTE [PARENT]
    net_add_namespaces "$1"
    TREE_SWITCHES+=("$1")
    TREE_IP[$1]=$NET_SUBNET.$2
    TREE_PARENT[$1]=${3:-}
    TREE_PORTS[$1]=
    [ -z "${3:-}" ] || tree_link "$1" "$3"
}

# A link between two switches: the port "uplink" of the lower one, and one with the lower one's name.
tree_link() { # SWITCH PARENT
    ip link add uplink netns "$(tree_namespace "$1")" type veth peer name "$1" netns "$(tree_namespace "$2")"
    tree_port "$1" uplink
    tree_port "$2" "$1"
}

tree_port() { # SWITCH DEVICE
    net_real_frames "$(tree_namespace "$1")" "$2"
    ip -n "$(tree_namespace "$1")" link set "$2" up promisc on
    TREE_PORTS[$1]+=" $2"
}

tree_hosts() { # SWITCH COUNT
    local i last=$((NET_HOSTS + $2))
    for ((i = NET_HOSTS; i < last; i++)); do
        net_add_namespaces "h$i"
        tree_host_link "$1" "$i"
        TREE_SWITCH_OF[i]=$1
    done
    NET_HOSTS=$last
}

# A host's link to a switch: to one of another tree, where net_second runs this and has made that.
tree_host_link() { # SWITCH HOST
    ip link add "$NET_LINK" netns "$NET_ID-h$2" address "$(net_mac "$2")" type veth \
        peer name "$NET_PORT_NAMES$2" netns "$(tree_namespace "$1")"
    net_real_frames "$NET_ID-h$2" "$NET_LINK"
    ip -n "$NET_ID-h$2" addr add "$(net_ip "$2")/24" dev "$NET_LINK"
    ip -n "$NET_ID-h$2" link set "$NET_LINK" up
    tree_port "$1" "$NET_PORT_NAMES$2"
}

# Writes a switch's configuration. TREE_IMPAIR[SWITCH]: the impairments of all its ports, as YAML. TREE_KEY[SWITCH]: the file
# with its one tenant's key, by which switches below it are known, too. The other arguments are further settings, a line each.
tree_config() { # SWITCH [YAML...]
    local name=$1 port line
    shift
    for line in "${NET_SETTINGS[@]}"; do
        [[ " $* " == *" ${line%%:*}:"* ]] || set -- "$@" "$line"
    done
    {
        printf 'switch: {ip: %s/24}\nports:\n' "${TREE_IP[$name]}"
        for port in ${TREE_PORTS[$name]}; do
            printf '  - {name: %s, device: "kernel:%s"%s}\n' "$port" "$port" \
                "${TREE_IMPAIR[$name]:+, impair: ${TREE_IMPAIR[$name]}}"
        done
        [ -z "${TREE_KEY[$name]:-}" ] || printf 'tenants: [{name: lab, key_file: %s}]\n' "${TREE_KEY[$name]}"
        [ -z "${TREE_PARENT[$name]}" ] || tree_uplink "${TREE_PARENT[$name]}"
        printf '%s\n' "$@"
    } >"$NET_DIR/$name.yaml"
}

tree_uplink() { # PARENT
    printf 'uplink: [{parent: %s%s}]\n' "${TREE_IP[$1]}" "${TREE_KEY[$1]:+, key_file: ${TREE_KEY[$1]}}"
}

tree_start() { # SWITCH...
    local name
    for name; do
        net_background "$NET_DIR/$name.log" net_become "$(tree_namespace "$name")" "$NET_BUILD/swagg/swagg" "$NET_DIR/$name.yaml" -- \
            --file-prefix="$NET_ID-$name"
        TREE_PID[$name]=$!
    done
    for name; do
        net_until 20 "switch $name is ready" tree_ready_or_gone "$name"
        grep -q 'ready:' "$NET_DIR/$name.log" || fail "switch $name does not start"
    done
}

tree_ready_or_gone() { # SWITCH
    grep -q 'ready:' "$NET_DIR/$1.log" || ! kill -0 "${TREE_PID[$1]}"
}

tree_kill() { # SWITCH
    kill -KILL "${TREE_PID[$1]}"
    net_until 10 "switch $1 has stopped" net_gone "${TREE_PID[$1]}"
    wait "${TREE_PID[$1]}" || true
}

tree_telemetry() { # SWITCH COMMAND [KEY...]
    "$NET_TELEMETRY" "$NET_ID-$1" "${@:2}"
}

tree_ctl() { # SWITCH [OPTION...] COMMAND [ARGUMENT...]
    "$NET_BUILD/swaggctl/swaggctl" --switch "$NET_ID-$1" "${@:2}"
}

# Limits what is sent on every link, in both directions. "none" lifts the limit.
tree_limit() { # RATE
    local name port i
    for name in "${TREE_SWITCHES[@]}"; do
        for port in ${TREE_PORTS[$name]}; do
            net_limit_device "$1" "$(tree_namespace "$name")" "$port"
        done
    done
    for ((i = 0; i < NET_HOSTS; i++)); do
        net_limit_device "$1" "$NET_ID-h$i" eth0
    done
}

# Takes switches and hosts down, so that others can be made.
tree_remove() {
    local name
    net_delete_namespaces "${TREE_SWITCHES[@]/#/"$NET_ID-"}"
    net_hosts_remove
    TREE_SWITCHES=() TREE_SWITCH_OF=()
}
