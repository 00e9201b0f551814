# shellcheck shell=bash
# Workers of published SwitchML clients from their first call on, and swagg-switchml-session, which they ask. The caller says
# where that runs, CONTROLLER_SPACE (a network namespace) and CONTROLLER_IP, and for which switch, as swaggctl calls it:
# CONTROLLED; SWITCH_MAC is that switch's.

WINDOW=8 ELEMENTS=64
CLIENT=$(dirname "${BASH_SOURCE[0]}")/session_client.py

# Jobs end soon after their workers; who is late is waited for. What the caller says, counts.
# shellcheck disable=SC2153 # no misspelling of CONTROLLER, its process
controller_start() { # OPTION...
    net_background "$NET_DIR/controller.log" ip netns exec "$CONTROLLER_SPACE" "$NET_BUILD/session/swagg-switchml-session" \
        --switch="$CONTROLLED" --gone=2 --wait=300 "$@"
    CONTROLLER=$!
    net_until 60 "the controller is ready" grep -q ready "$NET_DIR/controller.log"
}

controller_stop() {
    kill -TERM "$CONTROLLER"
    wait "$CONTROLLER"
}

controller_says() { # REGEX
    net_until 60 "the controller says '$1'" grep -Eq "$1" "$NET_DIR/controller.log"
}

client() { # HOST ARGUMENT...
    net_exec "$1" "$CLIENT" "$CONTROLLER_IP:50099" "${@:2}"
}

# A worker on a host; RANK_PID[HOST] is its process. CLIENT_PORT and FIRST_PORT as the controller's --port and --worker-port.
worker_start() { # HOST RANK WORKERS SEED TENSOR...
    net_background "$NET_DIR/rank$1.log" ip netns exec "$NET_ID-h$1" "$CLIENT" "$CONTROLLER_IP:${CLIENT_PORT:-50099}" "$2" "$3" \
        "$SWITCH_MAC" "$(net_switch_ip)" "${FIRST_PORT:-4000}" 2 "$WINDOW" "$ELEMENTS" "${@:4}"
    RANK_PID[$1]=$!
}

stopping_start() { # HOST CALLS RANK WORKERS
    net_background "$NET_DIR/rank$1.log" ip netns exec "$NET_ID-h$1" "$CLIENT" "$CONTROLLER_IP:50099" stop "${@:2}"
    RANK_PID[$1]=$!
}

controlled() { # OPTION-OR-WORD...
    "$NET_BUILD/swaggctl/swaggctl" --switch "$CONTROLLED" "$@"
}

jobs_are() { # NUMBER
    [ "$(controlled --json jobs | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["jobs"]))')" = "$1" ]
}

workers_fail() { # REGEX HOST...
    local host
    for host in "${@:2}"; do
        net_until 60 "the worker of host $host has ended" net_gone "${RANK_PID[host]}"
        refuses wait "${RANK_PID[host]}"
        expect_match "what the worker of host $host says" "$(rank_log "$host")" "$1"
    done
    RANK_PID=()
}

worker_ends_well() { # HOST REGEX: what it says
    net_until 60 "the worker of host $1 has ended" net_gone "${RANK_PID[$1]}"
    wait "${RANK_PID[$1]}" || fail "the worker of host $1: $(rank_log "$1")"
    expect_match "what it says" "$(rank_log "$1")" "$2"
    unset "RANK_PID[$1]"
}

rdma_worker_start() { # HOST RANK PACKETS TENSOR...
    net_background "$NET_DIR/rank$1.log" ip netns exec "$NET_ID-h$1" "$CLIENT" "$CONTROLLER_IP:50099" rdma "$2" 2 \
        "$SWITCH_MAC" "$(net_switch_ip)" 4 "$3" 64 9 "${@:4}"
    RANK_PID[$1]=$!
}
