#!/usr/bin/env bash
# Sums in the path of MPI over TCP: programs of Debian's Open MPI that know of nothing, and swagg-mpi-proxy on the router between
# them. A thousand linear reduces, with other traffic in between; a rank that is killed, a connection that is reset, the proxy that is killed, programs
# after those; reduces that the proxy is wrong about.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/mpi-proxy.sh
. "$NET_LIB/mpi-proxy.sh"

LINEAR=$NET_BUILD/tests/mpi/mpi-linear

counted() { # REGEX: the proxy says so of what it has done
    kill -USR1 "$PROXY_PID"
    grep -Eq "$1" "$NET_DIR/proxy.log"
}

proxy_says() { # REGEX
    net_until 30 "the proxy says $1" counted "$1"
}

reduces_right() { # CALLS FLOATS [any]
    local said
    said=$(proxy_mpirun -- "$LINEAR" "$@" 2>&1) || fail "the program: $said"
    expect_match "what the program says" "$said" "(^|"$'\n'")$1 calls, 0 wrong" # mpirun may warn before
}

endless_start() {
    net_background "$NET_DIR/endless.log" proxy_mpirun -- "$LINEAR" 0 500000
    ENDLESS=$!
    net_until 120 "sums are made" grep -q "call 10, 0 wrong" "$NET_DIR/endless.log"
}

ranks_of() { # HOST: process ids
    ip netns pids "$NET_ID-h$1" | xargs -r ps -o pid=,comm= -p | awk '$2 == "mpi-linear" {print $1}'
}

# It has ended with an error, and no sum was wrong.
endless_fails() {
    net_until 120 "the program has ended" net_gone "$ENDLESS"
    refuses wait "$ENDLESS"
    refuses grep -E ", [1-9][0-9]* wrong|element" "$NET_DIR/endless.log"
}

# Open MPI 4.1 stands still where a connection of a living rank is reset, with the proxy as without.
endless_is_killed() {
    local host
    for ((host = 0; host < NET_HOSTS; host++)); do
        ranks_of "$host" | xargs -r kill -KILL
    done
    endless_fails
}

net_begin mpi-tcp
net_hosts 4
proxy_network

step "mistakes on the command line"
expect_end 2 '2 at least' "$NET_BUILD/mpi-proxy/swagg-mpi-proxy" --root=10.0.0.1 --senders=10.0.0.2 --ports=20000-20003
expect_end 2 'the root is none' "$NET_BUILD/mpi-proxy/swagg-mpi-proxy" --root=10.0.0.1 --senders=10.0.0.2,10.0.0.1 --ports=20000-20003
expect_end 2 'no bxor of float32' "$NET_BUILD/mpi-proxy/swagg-mpi-proxy" --root=10.0.0.1 --senders=10.0.0.2,10.0.0.3 --ports=20000-20003 \
    --operation=bxor
expect_end 2 'is no IPv4 address' "$NET_BUILD/mpi-proxy/swagg-mpi-proxy" --senders=10.0.0.2,nobody
expect_end 2 'no range' "$NET_BUILD/mpi-proxy/swagg-mpi-proxy" --ports=20003-20000

step "a thousand reduces, each with the bits that Open MPI gives by itself; the other traffic passes"
reduces_right 3 40000 # without the proxy
proxy_routes
proxy_start --others=kept --wait=60000 # a rank may stand still
reduces_right 1000 20000
proxy_says '^sums 1000, bytes 80000000$'
refuses grep '^connections' "$NET_DIR/proxy.log"

step "a rank is killed: the program ends, and the next one has its sums"
endless_start
kill -KILL "$(ranks_of 2)"
endless_fails
reduces_right 20 40000

step "a connection is reset in the midst: no sum is wrong, and the next program has its sums"
endless_start
first=$PROXY_PORT last=$((PROXY_PORT + PROXY_PORTS - 1))
net_exec 3 ss -K dst "$(net_ip 0)" "( dport >= :$first and dport <= :$last ) or ( sport >= :$first and sport <= :$last )" >"$NET_DIR/reset.log" 2>&1
grep -q ESTAB "$NET_DIR/reset.log" || fail "no connection was there to be reset"
proxy_says '^connections [0-9]*: a connection has ended'
endless_is_killed
reduces_right 20 40000
proxy_stop

step "the proxy is killed: likewise"
proxy_start
endless_start
kill -KILL "$PROXY_PID"
endless_is_killed
wait "$PROXY_PID" || true

step "not all send, or by another algorithm: what is not to be summed takes its usual way"
proxy_start --wait=200
PROXY_ALGORITHM=5 reduces_right 20 40000 any # binomial: of three ranks, two send to the root
proxy_says 'not all senders have announced'
refuses grep '^sums [1-9]' "$NET_DIR/proxy.log"
proxy_stop
proxy_start --type=float64 --others=neutral --operation=max
PROXY_ALGORITHM=2 reduces_right 5 1000 any # short: nothing is announced
proxy_stop
expect_match "what the proxy has done" "$(cat "$NET_DIR/proxy.log")" 'sums 0, bytes 0'
