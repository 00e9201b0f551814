# shellcheck shell=bash
# Hosts and a switch out of network namespaces, for the network tests, the demo and the benchmarks. Source it; root only.
#
#     root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
#     . "$root/script/lib/netns.sh"
#     net_begin ping                 # own prefix, scratch directory $NET_DIR, clean-up on any exit
#     net_hosts 4                    # hosts h0..h3, 10.77.0.1..4 on eth0, each on a veth to port p0..p3 of the switch
#     net_limit 200mbit              # both directions of every link; or of one: net_limit 200mbit 2
#     net_bridge                     # the switch is a plain Linux bridge, or:
#     net_swagg_start conf.yaml      # the switch is build/swagg/swagg; returns when it is ready, or:
#     net_bridge_with_cable 1500     # a bridge, and swagg beside it: net_swagg_beside 1500
#     step "hosts reach one another" # names what follows; a failure says in which step it happened
#     net_exec 0 ping -c1 "$(net_ip 1)"
#     net_mpirun 4 -x LD_PRELOAD=libx.so -- ./program args    # 4 ranks, dealt to the hosts in turn
#     net_until 5 "host 2 is known" sh -c '...'               # bounded polling, for anything that takes time
#     net_background "$NET_DIR/x.log" command args            # its words are in a new file, to be waited for
#     net_swagg_stop                 # SIGTERM, and waits; net_swagg_kill: SIGKILL
#     net_second net_links           # hosts get a second link each, 10.78.0.1..4 on eth1, to q0..q3 of a second switch, which is:
#     net_second net_swagg_with      # what is said of the first switch and its links, of the second
#
# Scripts run under `set -euo pipefail`: the first command that fails ends the script. On the way out, also after a
# signal, every process in the namespaces is ended, by its id, and the namespaces are deleted; after a failure the state
# is shown first: links, counters, the daemon's log. The switch's ports live in a namespace of their own ($NET_ID-sw),
# so names never collide with another run's.
#
# Frames on the veths are real frames: segmentation offloads are off, and checksums are computed by the sender.

# shellcheck source=script/lib/help.sh
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"

NET_SUBNET=10.77.0
NET_SWITCH_MAC=02:00:00:00:01:fe
NET_HOST_MAC=02:00:00:00:01: # how those of hosts begin
NET_LINK=eth0 # of a host
NET_PORT_NAMES=p
NET_DAEMON= # which one: what its names have behind $NET_ID
NET_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NET_LIB=$NET_ROOT/script/lib
NET_BUILD=${NET_BUILD:-$NET_ROOT/build}
NET_TELEMETRY=$NET_BUILD/tests/telemetry # tests/support/telemetry.c
NET_HOSTS=0
NET_STEP=
NET_REASON= # why it fails, as far as that was said
NET_FAILED= # the command that did, and where
NET_AT_END= # a command of the caller's, for what else is to be undone on any exit
exec {NET_SILENCE}<> <(:) # from which nothing ever comes
NET_SWAGG_PID=
NET_SECOND_PID=
NET_SERVER=
NET_SERVER_PID=()
# A condition is waited for this long at least, whatever the caller says: a limit ends what hangs, it judges nothing. A machine
# may stand still for half a minute.
NET_PATIENCE=${NET_PATIENCE:-600}
# YAML lines that every configuration gets, unless its caller has the key. Hugepages that are free are another script's, which
# measures with them (hugepages.sh).
NET_SETTINGS=("memory: {mode: no-huge}")
# What a daemon finds of DPDK's drivers, as in librte_NAME.so. Nothing: all that are installed, some 128, each of which DPDK loads at
# each start.
NET_DRIVERS=()
NET_DRIVERS_AT= # the folder with them

net_die() {
    printf '%s: %s\n' "${NET_NAME:-netns}" "$*" >&2
    exit 1
}

# ld.so divides LD_PRELOAD at these, and Open MPI the command that starts its daemons.
[[ $NET_ROOT != *[[:space:]:]* ]] || net_die "the path $NET_ROOT has a space or a colon, where LD_PRELOAD is divided: move it elsewhere"

# --- life of a run ---------------------------------------------------------------------------------------------

net_begin() { # NAME
    [ "$(id -u)" -eq 0 ] || net_die "network namespaces need root"
    NET_NAME=$1
    export NET_ID="swagg-$1-$$"
    NET_DIR=$(mktemp -d "/tmp/$NET_ID.XXXXXX")
    exec {NET_WORDS}>&2 # what ends the script may do so where words go nowhere: in a condition that is waited for
    set -E
    trap 'NET_FAILED="${BASH_SOURCE[0]##*/}, line $LINENO: $BASH_COMMAND"' ERR
    trap 'net_end "$BASH_COMMAND"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    net_choose_drivers
    net_add_namespaces sw
}

net_end() { # LAST COMMAND
    local status=$?
    trap - EXIT ERR
    trap '' HUP INT TERM
    set +e
    exec 2>&"$NET_WORDS"
    if [ "$status" -ne 0 ]; then
        NET_REASON=${NET_REASON:-this ended it: ${NET_FAILED:-$1}}
        printf '%s: failed (status %s)%s\n' "$NET_NAME" "$status" "${NET_STEP:+ in step: $NET_STEP}" >&2
        if [ "$status" -le 128 ]; then
            net_dump >&2
            # Once more, in the end: who sees only that of a long log sees why.
            printf -- '--- the reason\n%s\n%s: failed%s: %s\n' "$(tail -n 40 <<<"$NET_REASON")" "$NET_NAME" \
                "${NET_STEP:+ in step: $NET_STEP}" "${NET_REASON%%$'\n'*}" >&2
        fi
    fi
    net_clear "$NET_ID"
    $NET_AT_END
    exit "$status"
}

# Removes the namespaces of a run, the processes in them, its scratch directory, and what daemons that were killed have left in /run.
net_clear() { # ID
    local spaces link id=${1:?}
    mapfile -t spaces < <(ip netns list | awk -v prefix="$id-" 'index($1, prefix) == 1 { print $1 }')
    net_delete_namespaces "${spaces[@]}"
    rm -rf "/run/dpdk/$id" "/run/dpdk/$id-"* "/run/swagg/$id.ctl" "/run/swagg/$id-"*.ctl
    for link in /run/swagg/*.ctl; do # others' come and go meanwhile
        [[ $(readlink "$link") != "/tmp/$id."* ]] || rm -f "$link"
    done
    rm -rf "/tmp/$id".*
}

# Asks the processes of namespaces to end, then insists.
net_end_processes() { # NAMESPACE...
    local space pids signal
    for signal in TERM KILL; do
        for _ in {1..30}; do
            pids=$(for space; do ip netns pids "$space"; done)
            [ -n "$pids" ] || return 0
            # shellcheck disable=SC2086 # one word a process
            kill -"$signal" $pids 2>/dev/null || true # gone meanwhile
            net_pause 100
        done
    done
}

# With the processes in them.
net_delete_namespaces() { # NAMESPACE...
    [ $# -gt 0 ] || return 0
    net_end_processes "$@"
    printf 'netns delete %s\n' "$@" | ip -force -batch -
}

net_dump() {
    local i
    for ((i = 0; i < NET_HOSTS; i++)); do
        echo "--- h$i: $(ip -n "$NET_ID-h$i" -o -4 addr show dev eth0 | tr -s ' ')"
        ip -n "$NET_ID-h$i" -s link show dev eth0
        ip -n "$NET_ID-h$i" neigh
    done
    echo "--- switch"
    ip -n "$NET_ID-sw" -s -br link
    if [ -n "$NET_SWAGG_PID" ]; then
        echo "--- swagg"
        net_telemetry /swagg/counters
        net_telemetry /swagg/drops | grep -v ': 0'
        net_ctl fdb
    fi
    local log
    for log in "$NET_DIR"/*.log "$NET_DIR"/second/*.log; do
        [ -e "$log" ] || continue
        echo "--- ${log#"$NET_DIR/"}, its last lines"
        tail -n 60 "$log"
    done
}

# --- words for test scripts ------------------------------------------------------------------------------------

step() { # TITLE: what the following commands show
    NET_STEP=$*
    printf '  %s\n' "$*"
}

# Fails the script with a reason.
fail() { # REASON
    NET_REASON=$*
    printf '%s: %s\n' "$NET_NAME" "$NET_REASON" >&2
    exit 1
}

# The command must fail; its output goes on.
refuses() { # COMMAND...
    if "$@"; then
        fail "this should have failed: $*"
    fi
}

# For conditions that are waited for: one that does not hold.
not() { # COMMAND...
    ! "$@"
}

# Whether a command prints a number, or a word, that is so: prints -gt 7 COMMAND...
prints() { # OPERATOR VALUE COMMAND...
    test "$("${@:3}")" "$1" "$2"
}

# The command must end with this status, and words that match.
expect_end() { # STATUS REGEX COMMAND...
    local words status=0
    words=$("${@:3}" 2>&1) || status=$?
    expect_equal "exit status after: $words" "$status" "$1"
    expect_match "what it says" "$words" "$2"
}

expect_equal() { # WHAT ACTUAL EXPECTED
    [ "$2" = "$3" ] || fail "$1 is '$2', expected '$3'"
}

expect_match() { # WHAT TEXT REGEX
    [[ $2 =~ $3 ]] || fail "$1 does not match '$3':"$'\n'"$2"
}

# Does nothing for so long, and takes no process for that.
net_pause() { # MILLISECONDS
    local seconds
    printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
    read -rt "$seconds" -u "$NET_SILENCE" || true
}

# Whether a file has these words. Takes no process: who waits for them looks again and again.
net_has_words() { # FILE WORDS
    local text=
    IFS= read -rd '' text <"$1" || true # it has no NUL to end at
    [[ $text == *"$2"* ]]
}

# Tries until it succeeds, or fails the script after so long (NET_PATIENCE, if that is longer). SECONDS would not do: it jumps when the
# time of day is set. What takes longer is looked at less often: looking takes processes, and CPU time from what is waited for.
net_until() { # SECONDS WHAT COMMAND...
    local seconds=$(($1 > NET_PATIENCE ? $1 : NET_PATIENCE)) what=$2 up end pause=50
    shift 2
    type "$1" >/dev/null || fail "there is no command $1 to wait for: $what" # else that would be heard of only when the time is over
    read -r up _ </proc/uptime
    end=$((${up%.*} + seconds))
    while [ "${up%.*}" -lt "$end" ]; do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        net_pause "$pause"
        pause=$((pause < 400 ? pause * 5 / 4 : 500))
        read -r up _ </proc/uptime
    done
    fail "not within $seconds s: $what"
}

# The same command for all ranks at once, with the rank at its end.
on_all_ranks() { # RANKS COMMAND...
    local count=$1 rank pid pids=() status=0
    shift
    for ((rank = 1; rank < count; rank++)); do
        "$@" "$rank" &
        pids+=($!)
    done
    "$@" 0 || status=$?
    for pid in "${pids[@]}"; do
        wait "$pid" || status=$?
    done
    return $status
}

# --- hosts -----------------------------------------------------------------------------------------------------

# Runs a command in a namespace's network. It does not see the /sys of that, as it would by `ip netns exec`, which takes longer.
net_in() { # NAMESPACE COMMAND...
    nsenter --net="/run/netns/$1" "${@:2}"
}

net_add_namespaces() { # NAME...
    local name
    printf 'netns add %s\n' "${@/#/"$NET_ID-"}" | ip -batch -
    for name; do
        # No frames but those that somebody asked for: no router solicitations, no multicast reports.
        # shellcheck disable=SC2016 # for the inner shell
        net_in "$NET_ID-$name" sh -ec 'for of in all default; do echo 1 >"/proc/sys/net/ipv6/conf/$of/disable_ipv6"; done
            exec ip link set lo up'
    done
}

net_ip() { # HOST
    echo "$NET_SUBNET.$(($1 + 1))"
}

net_switch_ip() {
    echo "$NET_SUBNET.254"
}

net_mac() { # HOST
    printf '%s%02x\n' "$NET_HOST_MAC" $(($1 + 1))
}

net_hosts() { # COUNT [MTU]
    local names
    mapfile -t names < <(seq -f 'h%g' 0 $(($1 - 1)))
    net_add_namespaces "${names[@]}"
    NET_HOSTS=$1
    net_links "${2:-1500}"
}

net_links() { # [MTU]
    local numbers
    mapfile -t numbers < <(seq 0 $((NET_HOSTS - 1)))
    net_links_of "${1:-1500}" "${numbers[@]}"
}

# The same command for the second switch and the hosts' links to it. It has a scratch directory of its own.
net_second() { # COMMAND...
    local NET_DIR=$NET_DIR/second NET_SUBNET=10.78.0 NET_SWITCH_MAC=02:00:00:00:02:fe NET_HOST_MAC=02:00:00:00:02: NET_LINK=eth1 NET_PORT_NAMES=q NET_DAEMON=-second
    local NET_SWAGG_PID=$NET_SECOND_PID
    mkdir -p "$NET_DIR"
    "$@"
    NET_SECOND_PID=$NET_SWAGG_PID
}

# Takes hosts and their links down, so that others can be made.
net_hosts_remove() {
    local i spaces=()
    for ((i = 0; i < NET_HOSTS; i++)); do
        spaces+=("$NET_ID-h$i")
    done
    net_delete_namespaces "${spaces[@]}"
    for ((i = 0; i < NET_HOSTS; i++)); do
        net_until 10 "the link of host $i is gone" net_has_no_link "$i"
    done
    NET_HOSTS=0
}

net_has_no_link() { # HOST
    ! ip -n "$NET_ID-sw" link show "$NET_PORT_NAMES$1"
}

# A host's link to the switch; deleted (ip -n "$NET_ID-sw" link del pHOST), it can be made again.
net_link() { # HOST [MTU]
    net_links_of "${2:-1500}" "$1"
}

net_links_of() { # MTU HOST...
    local mtu=$1 host
    shift
    for host; do
        echo "link add $NET_LINK netns $NET_ID-h$host mtu $mtu address $(net_mac "$host")" \
            "type veth peer name new$host netns $NET_ID-sw mtu $mtu"
    done | ip -batch -
    for host; do
        net_real_frames "$NET_ID-h$host" "$NET_LINK"
        # Who stands still is asked for his address once a second until he goes on: what is sent to him waits, and does not fail.
        # shellcheck disable=SC2016 # for the inner shell
        net_in "$NET_ID-h$host" sh -ec 'for how in mcast_solicit mcast_resolicit; do echo 600 >"/proc/sys/net/ipv4/neigh/$1/$how"; done
            exec ip -batch -' sh "$NET_LINK" <<<"addr add $(net_ip "$host")/24 dev $NET_LINK"$'\n'"link set $NET_LINK up"
    done
    net_real_frames "$NET_ID-sw" "${@/#/new}"
    for host; do
        echo "link set new$host name $NET_PORT_NAMES$host" # a switch that waits for the name finds it ready
        echo "link set $NET_PORT_NAMES$host up promisc on"
    done | ip -n "$NET_ID-sw" -batch -
}

net_real_frames() { # NAMESPACE DEVICE...
    # shellcheck disable=SC2016 # for the inner shell
    net_in "$1" sh -ec 'for device; do ethtool -K "$device" tso off gso off gro off tx off >/dev/null; done' sh "${@:2}"
}

# Limits what leaves a host and what leaves the switch towards it. "none" lifts the limit.
net_limit() { # RATE [HOST]
    local i first=${2:-0} last=${2:-$((NET_HOSTS - 1))}
    for ((i = first; i <= last; i++)); do
        net_limit_device "$1" "$NET_ID-h$i" "$NET_LINK"
        net_limit_device "$1" "$NET_ID-sw" "$NET_PORT_NAMES$i"
    done
}

# A bucket of some 20 frames ($NET_BURST), and the queue of a small switch port behind it.
net_limit_device() { # RATE NAMESPACE DEVICE
    if [ "$1" = none ]; then
        tc -n "$2" qdisc del dev "$3" root 2>/dev/null || true
    else
        tc -n "$2" qdisc replace dev "$3" root tbf rate "$1" burst "${NET_BURST:-32kb}" limit 1mb
    fi
}

# Seconds of CPU time that swagg has taken, with all its threads; 0 where the switch is another.
net_swagg_cpu() {
    if [ -z "$NET_SWAGG_PID" ]; then
        echo 0
    else
        awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$NET_SWAGG_PID/stat"
    fi
}

# Bytes that have left the host (tx) or come to it over its link, which has a limit: whole frames, without their checksum. They are the
# limit's counters, since those of a veth lack the Ethernet headers of what its peer merges.
net_carried() { # HOST rx|tx
    local where=("$NET_ID-h$1" "$NET_LINK")
    [ "$2" = tx ] || where=("$NET_ID-sw" "$NET_PORT_NAMES$1")
    tc -n "${where[0]}" -s -j qdisc show dev "${where[1]}" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["bytes"])'
}

net_exec() { # HOST COMMAND...
    local host=$1
    shift
    ip netns exec "$NET_ID-h$host" "$@"
}

# iperf3 on a host, for one client; $! is its id.
net_iperf_server() { # HOST
    ip netns exec "$NET_ID-h$1" timeout 300 iperf3 -s -1 >"$NET_DIR/iperf.log" 2>&1 &
    net_until 10 "iperf3 listens" sh -c "ip netns exec $NET_ID-h$1 ss -ltn | grep -q :5201"
}

# --- the switch: a Linux bridge --------------------------------------------------------------------------------

net_bridge() {
    local names
    mapfile -t names < <(net_ports)
    net_bridge_of br0 "${names[@]}"
    ip -n "$NET_ID-sw" addr add "$(net_switch_ip)/24" dev br0
}

# The switch's ends of the hosts' links.
net_ports() {
    local i
    for ((i = 0; i < NET_HOSTS; i++)); do
        echo "p$i"
    done
}

# A Linux bridge in the switch's namespace, and a cable there between two of its devices, or of others'.
net_bridge_of() { # NAME PORT...
    local name=$1 port
    shift
    ip -n "$NET_ID-sw" link add "$name" type bridge forward_delay 0 mcast_snooping 0
    for port; do
        ip -n "$NET_ID-sw" link set "$port" master "$name"
    done
    ip -n "$NET_ID-sw" link set "$name" up
}

net_cable() { # END END [MTU]
    local end
    ip -n "$NET_ID-sw" link add "$1" mtu "${3:-1500}" type veth peer name "$2" mtu "${3:-1500}"
    for end in "$1" "$2"; do
        net_real_frames "$NET_ID-sw" "$end"
        ip -n "$NET_ID-sw" link set "$end" up promisc on
    done
}

net_bridge_remove() {
    ip -n "$NET_ID-sw" link del br0
}

# A bridge with a cable for a swagg beside it, as conf/beside-bridge.yaml has it. net_swagg_beside starts that.
net_bridge_with_cable() { # MTU
    local names
    mapfile -t names < <(net_ports)
    net_cable swagg0 swagg1 "$1"
    net_bridge_of br0 "${names[@]}" swagg1
}

net_swagg_beside() { # MTU
    sed "s/^mtu: 1500/mtu: $1/" "$NET_ROOT/conf/beside-bridge.yaml" >"$NET_DIR/beside.yaml"
    printf '%s\n' "${NET_SETTINGS[@]}" >>"$NET_DIR/beside.yaml"
    net_swagg_start "$NET_DIR/beside.yaml"
}

net_bridge_with_cable_remove() {
    net_bridge_remove
    ip -n "$NET_ID-sw" link del swagg0
}

# --- the switch: swagg -----------------------------------------------------------------------------------------

# Writes a configuration for the hosts that there are. NET_IMPAIR: the impairments of every port, as YAML
# ('{rx: {drop: 0.01}, tx: {drop: 0.01}}'). NET_PORT: what else every port has ('ecn_above: 50000'). NET_SWITCH_MAC: the switch's; empty: it chooses. NET_DEVICE: the DPDK driver of the ports, or kernel. The other arguments are further
# settings, a line each.
net_swagg_config() { # FILE [YAML...]
    local file=$1 i line
    shift
    for line in "${NET_SETTINGS[@]}"; do
        [[ " $* " == *" ${line%%:*}:"* ]] || set -- "$@" "$line"
    done
    {
        printf 'switch: {%sip: %s/24}\nports:\n' "${NET_SWITCH_MAC:+mac: \"$NET_SWITCH_MAC\", }" "$(net_switch_ip)"
        for ((i = 0; i < NET_HOSTS; i++)); do
            printf '  - {name: h%d, device: "%s"%s%s}\n' "$i" "$(net_device "${NET_DEVICE:-kernel}" "$i")" \
                "${NET_IMPAIR:+, impair: $NET_IMPAIR}" "${NET_PORT:+, $NET_PORT}"
        done
        printf '%s\n' "$@"
    } >"$file"
}

net_device() { # DRIVER PORT
    case $1 in
    kernel) echo "kernel:$NET_PORT_NAMES$2" ;;
    # With 512 places, the default, the rings overflow when the polling thread has to share its CPU.
    net_af_packet) echo "$1$2,iface=$NET_PORT_NAMES$2,framecnt=2048" ;;
    *) echo "$1$2,iface=$NET_PORT_NAMES$2" ;;
    esac
}

# Starts a program in the background, $! is its id. Its words go to FILE, which is a new one when this returns, and the program's for
# good: nobody who waits for a word finds that of an earlier program, one that still runs goes on in its own, and FILE may be renamed.
net_background() { # FILE COMMAND...
    local log
    [ ! -e "$1" ] || rm "$1"
    exec {log}>"$1"
    "${@:2}" >&"$log" 2>&1 </dev/null {log}>&- {NET_WORDS}>&- {NET_SILENCE}>&- &
    exec {log}>&-
}

net_choose_drivers() {
    local driver
    [ "${#NET_DRIVERS[@]}" -gt 0 ] || return 0
    NET_DRIVERS_AT=$NET_DIR/drivers
    mkdir "$NET_DRIVERS_AT"
    for driver in "${NET_DRIVERS[@]}"; do
        cp -P /usr/lib/*/dpdk/pmds-*/"librte_$driver".so.* "$NET_DRIVERS_AT"
    done
}

# A program of DPDK's takes this process's place. It finds the drivers that were chosen.
net_become() { # NAMESPACE PROGRAM [ARGUMENT...]
    [ -n "$NET_DRIVERS_AT" ] || exec ip netns exec "$@"
    # shellcheck disable=SC2016 # for the inner shell
    exec ip netns exec "$1" sh -ec 'mount --bind "$0" /usr/lib/*/dpdk/pmds-*; exec "$@"' "$NET_DRIVERS_AT" "${@:2}"
}

# Starts the daemon and waits until it says that it is ready. Its words go to swagg.log in $NET_DIR.
net_swagg_start() { # CONFIGURATION [EAL ARGUMENT...]
    local config=$1
    shift
    net_background "$NET_DIR/swagg.log" net_become "$NET_ID-sw" "$NET_BUILD/swagg/swagg" "$config" -- --file-prefix="$NET_ID$NET_DAEMON" "$@"
    NET_SWAGG_PID=$!
    net_until 20 "swagg is ready" net_swagg_ready_or_gone
    net_has_words "$NET_DIR/swagg.log" ready: || fail "swagg does not start"
}

# Both: a configuration, swagg.yaml in $NET_DIR, and the daemon.
net_swagg_with() { # [YAML...]
    net_swagg_config "$NET_DIR/swagg.yaml" "$@"
    net_swagg_start "$NET_DIR/swagg.yaml"
}

net_swagg_ready_or_gone() {
    net_has_words "$NET_DIR/swagg.log" ready: || ! kill -0 "$NET_SWAGG_PID"
}

# Ends the daemon as an operator would; returns its exit status.
net_swagg_stop() {
    net_swagg_end TERM
}

# Ends it as a power cut would.
net_swagg_kill() {
    net_swagg_end KILL || true
}

net_swagg_end() { # SIGNAL
    local pid=$NET_SWAGG_PID
    kill -"$1" "$pid"
    net_until 10 "swagg has stopped" net_gone "$pid"
    NET_SWAGG_PID=
    wait "$pid"
}

net_gone() { # PID
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
    [[ ${stat##*) } == Z* ]]
}

net_telemetry() { # COMMAND [KEY...]
    "$NET_TELEMETRY" "$NET_ID$NET_DAEMON" "$@"
}

# What swaggctl says of the switch.
net_ctl() { # [OPTION...] COMMAND [ARGUMENT...]
    "$NET_BUILD/swaggctl/swaggctl" --switch "$NET_ID$NET_DAEMON" "$@"
}

# --- a server that sums -----------------------------------------------------------------------------------------

# Starts swagg-ps on a host, with two threads or NET_SERVER_THREADS, and waits until it serves. Its words go to server$HOST.log in
# $NET_DIR, its socket for operators is server$HOST.ctl there. The other arguments are further settings, a line each. The next two
# functions are about the one on host NET_SERVER: that which was started last, unless the caller says otherwise.
net_server_start() { # HOST [YAML...]
    NET_SERVER=$1
    local files=$NET_DIR/server$1
    shift
    printf '%s\n' "server: {ip: $(net_ip "$NET_SERVER"), threads: ${NET_SERVER_THREADS:-2}}" "control: {path: $files.ctl}" "$@" >"$files.yaml"
    net_background "$files.log" ip netns exec "$NET_ID-h$NET_SERVER" "$NET_BUILD/server/swagg-ps" "$files.yaml"
    NET_SERVER_PID[NET_SERVER]=$!
    net_until 60 "the server serves" net_has_words "$files.log" " serves at "
}

# Ends it as an operator would, or as a power cut would.
net_server_end() { # SIGNAL
    local pid=${NET_SERVER_PID[NET_SERVER]}
    kill -"$1" "$pid"
    wait "$pid" || [ "$1" = KILL ]
}

# What swaggctl says of it.
net_server_ctl() { # [OPTION...] COMMAND [ARGUMENT...]
    "$NET_BUILD/swaggctl/swaggctl" --switch "$NET_DIR/server$NET_SERVER.ctl" "$@"
}

# --- Open MPI --------------------------------------------------------------------------------------------------

# Runs an MPI program, its ranks dealt to the hosts in turn; mpirun runs in h0. Options before "--" are mpirun's. NET_MAP_BY=slot: host
# by host, as mpirun does by itself. NET_BTL, NET_PML: what carries Open MPI's messages.
net_mpirun() { # RANKS [MPIRUN OPTION...] -- PROGRAM [ARGUMENT...]
    local ranks=$1 options=() hosts='' i
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    for ((i = 0; i < NET_HOSTS; i++)); do
        hosts+="${hosts:+,}h$i:$(((ranks + NET_HOSTS - 1) / NET_HOSTS))"
    done
    # shellcheck disable=SC2016 # for the inner shell
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        net_exec 0 unshare --uts sh -c 'hostname h0; exec "$@"' sh \
        mpirun --mca plm_rsh_agent "$NET_LIB/netns-rsh" --mca orte_tmpdir_base "$NET_DIR" \
        --mca pml "${NET_PML:-ob1}" --mca btl "${NET_BTL:-tcp,self}" --mca btl_tcp_if_include "$NET_SUBNET.0/24" \
        --mca oob_tcp_if_include "$NET_SUBNET.0/24" \
        --mca hwloc_base_binding_policy none --mca mpi_yield_when_idle 1 \
        --map-by "${NET_MAP_BY:-node}" -n "$ranks" -H "$hosts" "${options[@]}" "$@" </dev/null
}
