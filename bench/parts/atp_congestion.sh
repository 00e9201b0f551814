# shellcheck shell=bash
# shellcheck disable=SC2154 # of atp.sh and parts.sh
# The switch passes on half of the chunks, with congestion control and without, with the paper's eight workers and with three; and a
# job beside a flow of TCP to the server's host.

atp_congestion() {
    atp_congestion_of 8
    net_hosts_remove
    atp_hosts 1
    atp_control
    atp_switch "atp: {aggregators: 4096}"
    atp_beside_tcp tcp 0
    atp_beside_tcp tcp_ecn 1
    net_swagg_stop
}

# With so many workers, each on a host of its own.
atp_congestion_of() { # WORKERS
    local WORKERS=$1 SERVER=$1

    atp_hosts
    atp_control
}

atp_control() {
    local calls=2

    [ -z "$quick" ] || calls=1
    atp_switch "atp: {aggregators: 4096, forward: 0.5}"
    measure "atp_congestion,on,$WORKERS" 1 atp -b 8M -e 8M -n "$calls" -w 1
    measure "atp_congestion,off,$WORKERS" 1 atp -b 8M -e 8M -n "$calls" -w 1 --window "$SLOTS"
    net_swagg_stop
}

# The flow begins before the job, and lasts longer: what counts of it are the whole seconds in which the job works.
atp_beside_tcp() { # WHAT ECN
    local flow host further=$((WORKERS + 1)) to=$records/$run,atp_congestion,$1.json
    [ ! -s "$to" ] || return 0
    for host in "$SERVER" "$further"; do
        net_exec "$host" sysctl -qw net.ipv4.tcp_ecn="$2"
    done
    net_iperf_server "$SERVER"
    net_exec "$further" timeout 100 iperf3 -J -i 0.1 -t 20 -c "$(net_ip "$SERVER")" >"$NET_DIR/new.json" &
    flow=$!
    sleep 2
    measure "atp_congestion,beside_$1" 1 atp -b 4M -e 4M -n 2 -w 0
    wait "$flow" || fail "iperf3: $(tail -5 "$NET_DIR/new.json")"
    mv "$NET_DIR/new.json" "$to"
}
