#!/usr/bin/env bash
# script/bench replay      training of eight models, replayed: simulated at 10 and 100 Gb/s, and three of them on four hosts beside Open MPI and gloo
# Takes 3 minutes a run and 3 once; a look takes 4.
#
# Measures: replay.sh RUNS DIRECTORY ""|quick. Leaves DIRECTORY/sim_WHAT.json, tables of swagg-sim replay; and DIRECTORY/RUN,MODEL,WAY.json,
# of swagg-replay, mpi-replay and, where PyTorch is installed, gloo-replay. replay.py makes figures of both.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

profiles=$NET_ROOT/replay/profiles
models=(deeplight vgg19 bert)
SCALE=100 # so many times slower than 10 Gb/s are the hosts' links, and so many times fewer the bytes of models
steps=5
[ -z "$quick" ] || steps=2

simulate() { # WHAT PROFILE... [OPTION...]
    [ ! -s "$records/sim_$1.json" ] || return 0
    "$NET_BUILD/sim/swagg-sim" replay "${@:2}" --json "$records/sim_new.json"
    mv "$records/sim_new.json" "$records/sim_$1.json"
}

swagg_rank() { # MODEL RANK
    net_exec "$2" "$NET_BUILD/replay/swagg-replay" "$profiles/$1.profile" --switch "$(net_switch_ip)" --job "$1" --rank "$2" --size 4 \
        --scale "$SCALE" -n "$steps" -w 1 --json "$NET_DIR/new.json"
}

mpi_ranks() { # MODEL [MPIRUN OPTION...]
    net_mpirun 4 "${@:2}" -- "$NET_BUILD/replay/mpi-replay" "$profiles/$1.profile" --scale "$SCALE" -n "$steps" -w 1 --json "$NET_DIR/new.json"
}

gloo_rank() { # MODEL RANK
    net_exec "$2" env SWAGG_BUILD="$NET_BUILD" RANK="$2" WORLD_SIZE=4 MASTER_ADDR="$(net_ip 0)" MASTER_PORT=29500 GLOO_SOCKET_IFNAME=eth0 \
        "$NET_ROOT/replay/gloo-replay" "$profiles/$1.profile" --scale "$SCALE" -n "$steps" -w 1 --json "$NET_DIR/new.json"
}

has_torch() {
    /usr/bin/python3 -c 'import torch' 2>/dev/null
}

step_ms() { # WAY
    python3 -c 'import json, sys; print(round(json.load(open(sys.argv[1]))["step_ms"]))' "$(record_of "$model,$1")"
}

all=("$profiles"/*.profile)
three=("${models[@]/#/$profiles/}")
three=("${three[@]/%/.profile}")
if [ -n "$quick" ]; then
    simulate 10g "${three[@]}" --gbps 10
else
    simulate 10g "${all[@]}" --gbps 10
    simulate 100g "${all[@]}" --gbps 100
fi
# The limit of 100 Mbit/s counts what the kernel sees of a frame: 1,512 bytes; simulated are 1,536, with preamble, checksum and gap.
simulate hosts "${three[@]}" --gbps 0.10159 --workers 4 --scale "$SCALE" --delay-us 100

net_begin bench
net_hosts 4
net_limit 100mbit
for ((run = 1; run <= runs; run++)); do
    start_swagg 0
    for model in "${models[@]}"; do
        record "$model,swagg" on_all_ranks 4 swagg_rank "$model"
        record "$model,ring" mpi_ranks "$model" --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4
        record "$model,openmpi" mpi_ranks "$model"
        printf '  run %s: %s: %s ms with swagg, %s by Open MPI in a ring, %s as it is\n' "$run" "$model" \
            "$(step_ms swagg)" "$(step_ms ring)" "$(step_ms openmpi)"
        if has_torch; then
            record "$model,gloo" on_all_ranks 4 gloo_rank "$model"
            printf '  run %s: %s: %s ms by gloo\n' "$run" "$model" "$(step_ms gloo)"
        else
            printf '  run %s: %s: not by gloo, as PyTorch is not installed (python3-torch)\n' "$run" "$model"
        fi
    done
    net_swagg_stop
done
