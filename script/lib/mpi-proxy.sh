# shellcheck shell=bash
# swagg-mpi-proxy in the switch's namespace, for tests and benchmarks; on top of netns.sh. Host 0 has the root.

# The switch's namespace routes between the hosts, each at its own link, and answers their questions for one another (proxy ARP): to
# them it is the network.
proxy_network() {
    local host
    ip netns exec "$NET_ID-sw" sysctl -qw net.ipv4.ip_forward=1
    ip -n "$NET_ID-sw" addr add "$(net_switch_ip)/32" dev lo
    for ((host = 0; host < NET_HOSTS; host++)); do
        ip netns exec "$NET_ID-sw" sysctl -qw "net.ipv4.conf.p$host.proxy_arp=1" "net.ipv4.neigh.p$host.proxy_delay=0"
        ip -n "$NET_ID-sw" route add "$(net_ip "$host")/32" dev "p$host"
    done
}

# PROXY: its command.
proxy_command() {
    local host senders=
    for ((host = 1; host < NET_HOSTS; host++)); do
        senders+=",$(net_ip "$host")"
    done
    PROXY=(ip netns exec "$NET_ID-sw" "$NET_BUILD/mpi-proxy/swagg-mpi-proxy" --root="$(net_ip 0)" --senders="${senders#,}"
        --ports="$PROXY_PORT-$((PROXY_PORT + PROXY_PORTS - 1))")
}
PROXY_PORT=20000 PROXY_PORTS=64 # some are not free for a while after a program was killed

# Connections between rank 0 and others go to the proxy.
proxy_routes() {
    proxy_command
    "${PROXY[@]}" --routes >"$NET_DIR/routes"
    ip netns exec "$NET_ID-sw" sh -e "$NET_DIR/routes"
}

# They go by the kernel's routes again.
proxy_routes_end() {
    local rule
    for rule in 30000 30001; do
        while ip -n "$NET_ID-sw" rule del pref "$rule" 2>/dev/null; do :; done
    done
}

proxy_start() { # OPTION...
    proxy_command
    net_background "$NET_DIR/proxy.log" "${PROXY[@]}" "$@"
    PROXY_PID=$!
    net_until 30 "the proxy listens" grep -q ready "$NET_DIR/proxy.log"
}

proxy_stop() {
    kill -TERM "$PROXY_PID"
    wait "$PROXY_PID"
}

# A program of four ranks, one on each host, by linear reduces and the proxy's ports.
proxy_mpirun() { # [MPIRUN OPTION...] -- PROGRAM [ARGUMENT...]
    net_mpirun "$NET_HOSTS" --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_reduce_algorithm "${PROXY_ALGORITHM:-1}" \
        --mca btl_tcp_port_min_v4 "$PROXY_PORT" --mca btl_tcp_port_range_v4 "$PROXY_PORTS" "$@"
}
