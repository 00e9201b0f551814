# shellcheck shell=bash
# What the network tests share, on top of script/lib/netns.sh: ranks of libswagg, one process each.

# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../script/lib/netns.sh"
COLLECTIVES=$NET_BUILD/tests/collectives
# What configurations here name. All drivers are there for the demo, and for daemons that tests start by themselves (configuration, mistakes).
# shellcheck disable=SC2034 # for net_begin
NET_DRIVERS=(bus_pci bus_vdev mempool_ring net_af_packet net_memif net_null net_pcap net_tap net_vhost)
RANK_PID=()
RANK_STATUS=()
RANKS_ASIDE=()
# Ranks that are merely slow are not lost.
# shellcheck disable=SC2034 # for net_swagg_config
NET_SETTINGS+=("timers: {lost_after_ms: 60000}")

# Hosts and a running swagg: the usual beginning. NET_IMPAIR as for net_swagg_config.
begin_with_swagg() { # NAME [YAML...]
    net_begin "$1"
    shift
    net_hosts 4
    net_swagg_with "$@"
}

# A ping comes back, of several: one may be lost.
reaches() { # HOST IP [PING OPTION...]
    local host=$1 ip=$2
    shift 2
    net_until 60 "h$host reaches $ip $*" net_in "$NET_ID-h$host" ping -q -c1 -W5 "$@" "$ip"
}

# TCP or UDP traffic from one host to another; what iperf3 says is in transfer.log.
transfer() { # FROM TO [IPERF OPTION...]
    local server
    reaches "$1" "$(net_ip "$2")" # iperf3 tries once
    net_iperf_server "$2"
    server=$!
    net_exec "$1" timeout 300 iperf3 -c "$(net_ip "$2")" "${@:3}" >"$NET_DIR/transfer.log" 2>&1 ||
        fail "iperf3: $(cat "$NET_DIR/transfer.log")"
    wait "$server" # the next one listens on the same port
}

# The address of the switch that a rank joins.
rank_switch() { # RANK
    net_switch_ip
}

# Ranks are dealt to the hosts in turn.
rank_start() { # JOB RANK SIZE [ARGUMENT...]
    rank_start_on $(($2 % NET_HOSTS)) "$@"
}

# Deadlines are long unless given: they end what hangs, and judge nothing.
rank_start_on() { # HOST JOB RANK SIZE [ARGUMENT...]
    local host=$1 job=$2 rank=$3 size=$4
    shift 4
    net_background "$NET_DIR/rank$rank.log" ip netns exec "$NET_ID-h$host" "$COLLECTIVES" --switch "$(rank_switch "$rank")" --job "$job" \
        --rank "$rank" --size "$size" --answer-timeout 300000 --join-timeout 300000 --call-timeout 300000 "$@"
    RANK_PID[rank]=$!
}

# The order in which floats are added where hosts have several ranks: rank after rank on a host, then host after host.
ranks_order() { # SIZE
    local host order=""
    for ((host = 0; host < NET_HOSTS && host < $1; host++)); do
        order+=",($(seq -s, "$host" "$NET_HOSTS" $(($1 - 1))))"
    done
    echo "(${order:1})"
}

# Sums are expected in the order of hosts unless an --order is given.
ranks_start() { # JOB SIZE [ARGUMENT...]
    local job=$1 size=$2 rank
    shift 2
    [ "$size" -le "$NET_HOSTS" ] || set -- --order "$(ranks_order "$size")" "$@"
    RANK_PID=()
    for ((rank = 0; rank < size; rank++)); do
        rank_start "$job" "$rank" "$size" "$@"
    done
}

# Waits for all ranks, at most so long; their exit statuses are in RANK_STATUS.
ranks_wait() { # SECONDS
    local rank
    RANK_STATUS=()
    for rank in "${!RANK_PID[@]}"; do
        net_until "$1" "rank $rank has ended" net_gone "${RANK_PID[rank]}"
        RANK_STATUS[rank]=0
        wait "${RANK_PID[rank]}" || RANK_STATUS[rank]=$?
    done
}

# The same; all must have ended well.
ranks_succeed() { # SECONDS
    ranks_wait "$1"
    expect_equal "exit statuses of the ranks" "${RANK_STATUS[*]}" "${RANK_STATUS[*]//*/0}"
}

# A job whose sums must all be right.
ranks_run() { # JOB SIZE [ARGUMENT...]
    ranks_start "$@"
    ranks_succeed 120
}

# A job that goes on until one of its ranks is told (--until-told): all of them leave, and all of its sums were right.
job_ends() {
    kill -TERM "${RANK_PID[0]}"
    ranks_succeed 60
}

rank_log() { # RANK
    cat "$NET_DIR/rank$1.log"
}

# Waits until a rank has said something.
rank_says() { # SECONDS RANK REGEX
    net_until "$1" "rank $2 says '$3'" says_or_is_gone "$2" "$3"
    expect_match "what rank $2 says" "$(rank_log "$2")" "$3"
}

# Without a process for each look.
says_or_is_gone() { # RANK REGEX
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        [[ ! $line =~ $2 ]] || return 0
    done <"$NET_DIR/rank$1.log"
    net_gone "${RANK_PID[$1]}"
}

# Puts the job that was started last aside, and its log files, as NAME and the rank's number; then another can be started.
ranks_aside() { # NAME
    local rank
    RANKS_ASIDE=("${RANK_PID[@]}")
    for rank in "${!RANK_PID[@]}"; do
        mv "$NET_DIR/rank$rank.log" "$NET_DIR/$1$rank.log"
    done
}

ranks_back() {
    RANK_PID=("${RANKS_ASIDE[@]}")
}

# Waits until all ranks of the job have said something.
ranks_say() { # SECONDS REGEX
    local rank
    for rank in "${!RANK_PID[@]}"; do
        rank_says "$1" "$rank" "$2"
    done
}

is_stopped() { # RANK
    grep -q '^State:.*stopped' "/proc/${RANK_PID[$1]}/status"
}

jobs_are_gone() {
    [ "$(net_telemetry /swagg/jobs)" = '{}' ] || [ "$(net_telemetry /swagg/jobs)" = '[]' ]
}

more_results_than() { # NUMBER
    [ "$(net_telemetry /swagg/counters results)" -gt "$1" ]
}

# Waits until so many more sums have gone out.
sums_go_on() { # RESULTS
    net_until 60 "sums go out" more_results_than $(($(net_telemetry /swagg/counters results) + $1))
}

# Of ranks that go on until they are told: their switch is killed in the midst of calls and started anew, and these say that they outlived it.
ranks_outlive_a_kill() { # RANK...
    local rank
    ranks_say 60 open
    sums_go_on 100
    net_swagg_kill
    net_swagg_start "$NET_DIR/swagg.yaml"
    sums_go_on 100
    job_ends
    for rank; do
        expect_match "what rank $rank says" "$(rank_log "$rank")" " [1-9][0-9]* resumed"
    done
}

# The ranks that live must have ended with status 3 and words that match.
expect_told() { # REGEX RANK...
    local regex=$1 rank
    shift
    for rank; do
        expect_equal "exit status of rank $rank" "${RANK_STATUS[rank]}" 3
        expect_match "what rank $rank says" "$(rank_log "$rank")" "$regex"
    done
}

# An Ethernet frame with VLAN tags, sent by host 0, arrives as it was sent.
tag_arrives() { # HOST TAG
    local listener
    net_background "$NET_DIR/tagged.log" ip netns exec "$NET_ID-h$1" "$NET_ROOT/tests/net/tagged.py" receive 120
    listener=$!
    net_until 5 "the listener listens" grep -q listens "$NET_DIR/tagged.log"
    net_exec 0 "$NET_ROOT/tests/net/tagged.py" send "$(net_mac "$1")" "$2"
    net_until 60 "the listener has heard a frame" net_gone "$listener"
    expect_equal "tag that arrives" "$(tail -n 1 "$NET_DIR/tagged.log")" "$2"
}

# What hosts 0 to 3 send and receive until captures_check, which has swagg-pcap check it; $said is what that said.
captures_start() {
    local host
    WATCHES=()
    for host in 0 1 2 3; do
        net_background "$NET_DIR/capture$host.log" ip netns exec "$NET_ID-h$host" "$NET_ROOT/tests/net/capture.py" "$NET_DIR/$host.pcap"
        WATCHES+=($!)
        net_until 20 "h$host listens" grep -q listens "$NET_DIR/capture$host.log"
    done
}

captures_check() {
    kill "${WATCHES[@]}"
    wait "${WATCHES[@]}"
    said=$("$NET_BUILD/traffic/swagg-pcap" check --complete "$NET_DIR"/[0-3].pcap) || fail "$said"
}

# What the MPI program of sums beside messages says (tests/mpi/progress.c).
expect_progress() { # WORDS RANKS
    expect_equal "ranks without wrong sums in: $1" "$(grep -c '^progress: rank [0-9]*, 0 wrong$' <<<"$1")" "$2"
}

# How many packets the server (NET_SERVER's) has counted so.
server_counted() { # VERDICT
    net_server_ctl -H -o verdict,packets verdicts | awk -v verdict="$1" '$1 == verdict { print $2 }'
}

# A file in $NET_DIR with a key of random bytes.
key_file() { # NAME
    (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$NET_DIR/$1")
}
