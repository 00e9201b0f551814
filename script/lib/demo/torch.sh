# shellcheck shell=bash
# shellcheck disable=SC2154 # $root is the demo's
# What script/demo shows of a script of PyTorch's, with its hosts and its switch.

RATE=50 # Mbit/s, of links: so that the wire decides
TRAIN=$root/python/examples/train.py
EPOCHS=10
PLOT=$NET_BUILD/demo-torch.svg

# One rank on its host. Python's warnings are about other versions of torch. Rank 0 has the terminal, where its progress is.
rank() { # NAME BACKEND RANK
    local errors=$NET_DIR/$1.$3.log
    [ "$3" != 0 ] || errors=/dev/stderr
    net_exec "$3" env RANK="$3" WORLD_SIZE=4 MASTER_ADDR="$(net_ip 0)" MASTER_PORT=29500 GLOO_SOCKET_IFNAME="$NET_LINK" OMP_NUM_THREADS=1 \
        PYTHONPATH="$root/python" PYTHONDONTWRITEBYTECODE=1 SWAGG_LIBRARY="$NET_BUILD/lib/client/libswagg.so.0" SWAGG_SWITCH="$(net_switch_ip)" \
        /usr/bin/python3 -W ignore "$TRAIN" --backend "$2" --epochs "$EPOCHS" --log "$NET_DIR/$1.csv" 2>>"$errors"
}

all_ranks() { # NAME BACKEND
    local rank pids=()
    for rank in 1 2 3; do
        rank "$1" "$2" "$rank" >"$NET_DIR/$1.$rank.out" &
        pids+=($!)
    done
    rank "$1" "$2" 0
    for rank in "${pids[@]}"; do
        wait "$rank"
    done
}

# Shows the command as a user would type it, and its output as it comes; keeps that in a file, too.
train() { # NAME BACKEND
    say "\$ RANK=0..3 WORLD_SIZE=4 MASTER_ADDR=$(net_ip 0) MASTER_PORT=29500 SWAGG_SWITCH=$(net_switch_ip) train.py --backend $2"
    { all_ranks "$1" "$2" | tee "$NET_DIR/$1.out"; } &
    await 60 "training" $!
    grep -q 'the same on all ranks' "$NET_DIR/$1.out" || fail "the ranks of run $1 have different models"
}

model() { # NAME
    sed -n 's/^model \([0-9a-f]*\),.*/\1/p' "$NET_DIR/$1.out"
}

accuracy() { # NAME
    tail -n 1 "$NET_DIR/$1.csv" | cut -d , -f 3
}

net_limit "${RATE}mbit"
train swagg1 swagg
train swagg2 swagg
summed=$(net_telemetry /swagg/counters results)
train gloo gloo
"$root/script/lib/demo/plot.py" "$PLOT" "swagg=ours=$NET_DIR/swagg1.csv" "gloo=peer=$NET_DIR/gloo.csv"
say "Loss against time, on links of $RATE Mbit/s: $PLOT"

say "What was promised"
holds "both runs through the switch end with the same model, bit for bit ($(model swagg1))" test "$(model swagg1)" = "$(model swagg2)"
holds "accuracy with swagg ($(accuracy swagg1)) equals gloo's ($(accuracy gloo)) within $TOLERANCE" \
    close_enough "$(accuracy swagg1)" "$(accuracy gloo)"
holds "the switch sent $summed sums for them" test "$summed" -gt 0
