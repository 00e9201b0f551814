#!/usr/bin/env bash
# script/bench hosts       several ranks a host, which swagg sums in memory first; two links a host; threads of a rank; one host without a network; beside the best of Open MPI
# Takes 3 minutes a run and 2 once; a look takes 4.
#
# Measures: hosts.sh RUNS DIRECTORY [quick]. Leaves DIRECTORY/RUN,SETTING,VARIANT,allreduce.json and DIRECTORY/RUN,one,VARIANT,PART,TURN.json, of which
# hosts.py makes figures, and DIRECTORY/1,one,memory,shared.json. All variants take turns in each run, so that a machine that grows slower does so for all.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=bench/best.sh
. "$(dirname "${BASH_SOURCE[0]}")/best.sh"

# Ranks as mpirun places them by itself, host by host, which is the best for Open MPI's rings, too; within a host it has shared memory.
NET_MAP_BY=slot
NET_BTL=vader,tcp,self

LIMITED_TENSOR="4M 3 1"
FREE_TENSOR="16M 5 1"
TURNS=5 # of all sizes on one host
CANDIDATES=(3 4 6 "5 "{65536,1048576} han "han 1048576" "han_adapt 1048576" han_simple)
if [ -n "$quick" ]; then
    CANDIDATES=(4 "han 1048576")
    FINALISTS=1 FREE_TENSOR="16M 2 1" TURNS=1
fi

# Open MPI over a bridge, then through the shim with each rank for itself, and with the level within hosts.
on_hosts() { # SETTING RANKS TENSOR
    setting=$1 ranks=$2
    net_bridge
    search_and_measure allreduce "$3" "${CANDIDATES[@]}"
    net_bridge_remove
    start_swagg 0
    [ "$ranks" = "$NET_HOSTS" ] || measure_offloaded "$setting,flat" allreduce "$3" -x SWAGG_LOCAL=off
    measure_offloaded "$setting,swagg" allreduce "$3"
    net_swagg_stop
}

limit_links() { # LIMIT LIMIT-OF-THE-SECOND
    net_limit "$1"
    net_second net_limit "$2"
}

# Each host has two links of this rate, with a switch at each; a job takes the first, or both.
on_two_links() { # RATE
    local rate=$1
    limit_links "$rate" "$rate"
    start_swagg 0
    measure_offloaded "links,one_$rate" allreduce "$LIMITED_TENSOR"
    net_second start_swagg 0
    SWITCHES=$(net_switch_ip),$(net_second net_switch_ip) measure_offloaded "links,two_$rate" allreduce "$LIMITED_TENSOR"
    net_second net_swagg_stop
    net_swagg_stop
}

# The same with links that are not alike: each alone, and both, once ranks have found out what they carry.
on_uneven_links() {
    local tensor=$LIMITED_TENSOR settled="4M 5 12"
    limit_links 25mbit 75mbit
    start_swagg 0
    net_second start_swagg 0
    measure_offloaded "links,slow" allreduce "$tensor"
    net_second measure_offloaded "links,fast" allreduce "$tensor"
    SWITCHES=$(net_switch_ip),$(net_second net_switch_ip) measure_offloaded "links,uneven" allreduce "$settled"
    net_second net_swagg_stop
    net_swagg_stop
}

# A rank a host, with so many threads each.
on_threads() { # SETTING TENSOR THREADS...
    local setting=$1 tensor=$2 threads
    shift 2
    start_swagg 0
    for threads in "$@"; do
        measure_offloaded "$setting,$threads" allreduce "$tensor" -x "SWAGG_THREADS=$threads"
    done
    net_swagg_stop
}

# All ranks on the first host.
on_one() { # MPIRUN-ARGUMENT...
    local NET_HOSTS=1
    net_mpirun 4 "$@"
}

# Where the kernel puts four ranks on the CPUs lasts as long as they do, and is worth more than a short call takes: each turn has new ones.
one_sizes() { # VARIANT TURN [MPIRUN OPTION...]
    local variant=$1 turn=$2 range name begin end iterations warmups
    shift 2
    for range in "small 8 32K 1000 50" "middle 128K 2M 20 4" "large 4M 64M 3 1"; do
        read -r name begin end iterations warmups <<<"$range"
        record "one,$variant,$name,$turn" on_one "$@" -- "$MPI_PERF" -b "$begin" -e "$end" -f 4 -n "$iterations" -w "$warmups" --settle 200 \
            --json "$NET_DIR/new.json"
        printf '  run %s: turn %s: one host, %s: %s to %s\n' "$run" "$turn" "$variant" "$begin" "$end"
    done
}

# What their ranks share, while calls are made.
mapped() { # RANKS
    ip netns pids "$NET_ID-h0" | "$NET_ROOT/bench/parts/shared.py" "$1" >"$NET_DIR/new.json"
}

shared_memory() { # MPIRUN-ARGUMENT...
    on_one "$@" -- "$MPI_PERF" -b 16M -e 16M -n 1 -w 0 --settle 5000 &
    net_until 60 "ranks share memory" mapped 4
    wait "$!"
}

on_one_host() {
    local ours turn
    mapfile -t ours < <(offloading)
    ours+=(-x SWAGG_MIN_BYTES=1 -x SWAGG_FALLBACK=error) # also where the shim would measure that Open MPI is faster
    for ((turn = 1; turn <= TURNS; turn++)); do
        one_sizes openmpi "$turn"
        NET_PML=ucx one_sizes ucx "$turn" --mca pml_ucx_tls any --mca pml_ucx_devices any -x UCX_TLS=self,sm
        start_swagg 0 # where ranks would find one another if they were on several hosts
        one_sizes swagg "$turn" "${ours[@]}"
        [ "$run,$turn" != 1,1 ] || record one,memory,shared shared_memory "${ours[@]}"
        net_swagg_stop
    done
}

net_begin bench
net_hosts 4
net_second net_links
for ((run = 1; run <= runs; run++)); do
    net_limit 200mbit
    on_hosts 200mbit 16 "$LIMITED_TENSOR"
    net_limit 100mbit
    ranks=4 on_threads threads_100mbit "$LIMITED_TENSOR" 1 2
    net_limit none
    ranks=4 on_threads threads_cpu "$FREE_TENSOR" 1 2 4
    on_hosts cpu 16 "$FREE_TENSOR"
    on_hosts cpu_1 4 "$FREE_TENSOR"
    ranks=4 on_two_links 50mbit
    ranks=4 on_two_links 100mbit
    ranks=4 on_uneven_links
    limit_links none none
    on_one_host
done
