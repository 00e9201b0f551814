#!/usr/bin/env bash
# cases.sh CASE [component|mpich]: runs MPI programs on this machine, natively and through the shim, and looks at what they and the shim
# say: preloaded, as a component of Open MPI, or preloaded into MPICH's programs. PROGRAMS is the directory that has the programs, SHIM
# the library to preload, COMPONENT that of the component, MPICH_SHIM that for MPICH; with-loop-switch gives SWITCH_IP, SWITCH_PID and
# FULL_SWITCH_IP.
set -euo pipefail
case=$1
as=${2:-preload}
tests=$(dirname "${BASH_SOURCE[0]}")
out=$(mktemp) dir=$(mktemp -d) # what programs say; their files, where a case has some
trap 'rm -rf "$out" "$dir"' EXIT

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset "${!SWAGG_@}" # settings of the caller's do not count
export SWAGG_LOCAL=off # ranks of one machine are to be summed by the switch: that is what is tested
export SWAGG_MIN_BYTES=8K # what goes to the switch must not depend on how fast it is here
export SWAGG_ANSWER_TIMEOUT_MS=300000 SWAGG_JOIN_TIMEOUT_MS=300000 # who is merely slow is not missing

# What differs: which programs, what their MPI is called, how the shim comes to it.
of_library=$PROGRAMS/mpi library="Open MPI" front=$as
case $as in
preload) shim=(-x "LD_PRELOAD=$SHIM") ;;
component) shim=(--mca mca_base_component_path "SYSTEM_DEFAULT:${COMPONENT%/*}") ;;
mpich)
    shim=(-x "LD_PRELOAD=$MPICH_SHIM") of_library=$PROGRAMS/mpich library=MPICH front="preload for MPICH"
    # Where ranks of one host reduce in place to another root than 0, MPICH 4.0.2 is wrong by itself.
    export MPIR_CVAR_DEVICE_COLLECTIVES=none
    export MPIR_CVAR_POLLS_BEFORE_YIELD=1 # four ranks wait by polling, on two CPUs
    ;;
esac

# Options of Open MPI's mpirun for MPICH's: -x NAME=VALUE is -env NAME VALUE, and there are no MCA parameters.
mpich_options() { # ARGUMENT...: into options
    options=()
    [[ " $* " == *" -n "* ]] || options=(-n "$ranks")
    while [ $# -gt 0 ]; do
        case $1 in
        -x) options+=(-env "${2%%=*}" "${2#*=}") && shift ;;
        --mca) shift 2 ;;
        *) options+=("$1") ;;
        esac
        shift
    done
}

# Four ranks, unless a case says otherwise: two are enough where only words are looked at, and take little more than half as long to start.
ranks=4

# Output of both kinds goes to $out, one behind the other: mpirun passes long ones on in pieces, which would mix. A rank that
# waits for two seconds says so; how long that takes here is nobody's fault.
run_mpi() { # [MPIRUN OPTION...] PROGRAM [ARGUMENT...]
    local status=0 options launch=(mpirun --oversubscribe -n "$ranks" --mca pml ob1 --mca btl "tcp,self" --mca btl_tcp_if_include lo
        --mca hwloc_base_binding_policy none --mca mpi_yield_when_idle 1 "$@")
    if [ "$as" = mpich ]; then
        mpich_options "$@"
        launch=(mpirun.mpich "${options[@]}")
    fi
    timeout 1200 "${launch[@]}" >"$out" 2>"$out.err" </dev/null || status=$?
    sed '/^swagg.* nothing for [0-9.]* s, /d' "$out.err" >>"$out"
    rm "$out.err"
    return $status
}

run_native() { # PROGRAM
    run_mpi "$of_library-$1"
}

# Settings are NAME=VALUE, the program comes last.
run_shim() { # [SETTING...] PROGRAM
    local options=("${shim[@]}") setting
    for setting in "${@:1:$#-1}"; do
        options+=(-x "$setting")
    done
    run_mpi "${options[@]}" "$of_library-${!#}"
}

fail() {
    printf '%s: %s; the output was:\n' "$case" "$*" >&2
    cat "$out" >&2
    exit 1
}

says() { # REGEX [TIMES]: how many lines match, 1 unless given
    local times regex=${1//Open MPI/$library}
    times=$(grep -Ec -- "$regex" "$out" || true)
    [ "$times" -eq "${2:-1}" ] || fail "$times lines instead of ${2:-1} match '$regex'"
}

# What is told at a deadline may not be known by then where somebody stood still: then once more, with more time.
patiently() { # COMMAND...: takes a deadline in ms as its last argument, and fails by `fail`
    local ms
    for ms in 2000 8000 32000; do
        ! ("$@" "$ms") || return 0
    done
    exit 1
}

on="SWAGG_SWITCH=$SWITCH_IP"

# What a rank's SWAGG_SUMMARY_JSON says, a line for each kind of calls: FUNCTION|OPERATION|TYPE|SIZE|COMMUNICATOR|BY|WHY|CALL SITES|CALLS|BYTES,
# one for each cause why a switch does nothing, and one for each rank that it waited for: "waited for RANK".
kinds() { # FILE
    python3 - "$1" <<'END'
import json, sys
told = json.load(open(sys.argv[1]))
for k in told["calls"]:
    print("|".join(str(k[field]) for field in ("function", "operation", "type", "size", "communicator", "by", "why",
                                               "call_sites", "calls", "bytes")))
    assert k["in_progress"] == 0 and k["seconds"] >= 0
    assert k["by"] != "switch" or abs(k["waiting_seconds"] + k["wire_seconds"] - k["seconds"]) < 1e-6
for job in told["jobs"]:
    assert job["slots"] > 0 and job["packet_bytes"] > 0 and job["window"] > 0 and job["ranks"] > 1
for cause in told["causes"]:
    print(f"{cause['why']}: {cause['cause']}")
for wait in told["waited_for"]:
    assert wait["seconds"] > 0
    print("waited for", wait["rank"])
END
}

# What the summary says of how many places in a program have made calls: the component does not know them.
sites() { # N
    [ "$as" = component ] || printf ' at %d call site%s' "$1" "$([ "$1" = 1 ] || echo s)"
}

# What programs print of all that they have got, in lines that begin with the case's name: it is to be $natively, bit for bit.
digests() {
    grep "^$case" "$out" | sort
}

as_natively() { # WHEN
    diff <(printf '%s\n' "$natively") <(digests) || fail "other digests than natively (<), $1"
}

# The same program twice; through the shim so many of its collectives go to the switch, and so many do not.
both_ways() { # PROGRAM OFFLOADED NATIVE
    run_native "$1" || fail "failed natively"
    run_shim "$on" "$1" || fail "failed with the shim"
    says '^swagg\[0\]: switch .*: offloaded'
    says "offloaded $2 calls, .*; failed 0; by Open MPI $3 calls"
}

# Where some ranks lack the shim or have it disabled the program runs without the switch, and is told once why.
some_lack_it() { # [WORDS]: further ones of who has no shim
    shimmed=("${shim[@]}" -x "$on" "$of_library-progress")
    run_mpi -n 2 "${shimmed[@]}" : -n 2 "$of_library-progress" || fail "failed where half of the ranks lack the shim"
    says "^swagg\[0\]: Open MPI's own collectives are used: rank 2 has no shim${1:-}"
    says '^swagg\[0\]: .*by Open MPI 3 calls'
    says '^swagg' 2
    run_mpi -n 1 "$of_library-progress" : -n 3 "${shimmed[@]}" || fail "failed where rank 0 lacks the shim"
    says "^swagg\[1\]: Open MPI's own collectives are used: rank 0 has no shim"
    says '^swagg' 1
    run_mpi -n 2 "${shimmed[@]}" : -n 2 -x SWAGG_DISABLE=1 "${shimmed[@]}" || fail "failed where half of the ranks are disabled"
    says "^swagg\[0\]: Open MPI's own collectives are used: rank 2 has no shim, or SWAGG_DISABLE=1"
    says '^swagg' 2
}

case $case in
reductions)
    both_ways reductions 542 1190
    says '^reductions: [1-9][0-9]* checks, 0 wrong$'
    says "\(below SWAGG_MIN_BYTES 901 at [0-9] call sites, no elements 150 at [0-9] call sites, MPI_SUM of MPI_LONG_DOUBLE 100 at 2 call sites, .*a communicator of one rank 8 at [0-9] call sites"
    says "an intercommunicator 1 at 1 call site"
    says "a user's operation 30 at 2 call sites"
    run_shim "$on" SWAGG_MODE=arrival SWAGG_FALLBACK=native reductions || fail "failed with agreement after every call"
    says "offloaded 542 calls, .*; by Open MPI 1190 calls"
    run_shim "$on" SWAGG_REDUCE=buffered reductions || fail "failed with buffered reduces"
    says '^reductions: [1-9][0-9]* checks, 0 wrong$'
    says "offloaded 542 calls, .*; by Open MPI 1190 calls"
    ;;
matrix)
    # What Open MPI itself gives, and all of it from the switch. One case of 16, unless told otherwise; of MPICH, whose ranks poll while
    # they wait, one of 32, in one mode. Without Open MPI's AVX operations, which limit some sums of 8 and 16 bits instead of wrapping around.
    few=16 modes=(ordered arrival)
    [ "$as" != mpich ] || few=32 modes=(ordered)
    export MATRIX_ONE_OF=${MATRIX_ONE_OF:-$few} OMPI_MCA_op=^avx
    for mode in "${modes[@]}"; do
        run_shim "$on" SWAGG_MIN_BYTES=0 SWAGG_MTU=1500 "SWAGG_MODE=$mode" matrix || fail "failed in mode $mode"
        says '^matrix: rank [0-3]: [1-9][0-9]* cases, .* 0 wrong$' 4
        taken=$(sed -nE 's/^matrix: rank 0: .* cases, ([0-9]+) for the switch.*/\1/p' "$out")
        says "offloaded $taken calls, .*; failed 0"
    done
    ;;
exchanges)
    # What ranks copy from one another, and sums of which each gets a part: as natively, bit for bit.
    run_native exchanges || fail "failed natively"
    natively=$(digests)
    settings=(SWAGG_MIN_BYTES=0) # what others mean is the same however the shim comes to the program
    [ "$as" != preload ] || settings+=(SWAGG_MIN_BYTES=8K SWAGG_FALLBACK=native)
    for setting in "${settings[@]}"; do
        run_shim "$on" "$setting" exchanges || fail "failed with $setting"
        says 'offloaded [1-9][0-9]* calls, .*bcast [1-9][0-9]*, allgather [1-9][0-9]*, allgatherv [1-9][0-9]*, reduce_scatter [1-9][0-9]*, reduce_scatter_block [1-9].*; failed 0'
        as_natively "with $setting"
    done
    [ "$as" = preload ] || exit 0
    # Where both ways are measured while it runs; how fast they are here decides nothing.
    (unset SWAGG_MIN_BYTES && run_shim "$on" SWAGG_LOG=info exchanges) || fail "failed when measured"
    for function in Bcast Allgather Allgatherv Reduce_scatter Reduce_scatter_block; do
        grep -Eq "^swagg\\[0\\]: MPI_COMM_WORLD of 4 ranks: MPI_$function goes to the switch [a-z].*: measured in" "$out" || fail "MPI_$function was not measured"
    done
    as_natively "when measured"
    # Where a job has none of them.
    run_shim "$on" SWAGG_PROTOCOL=atp exchanges || fail "failed by ATP"
    says 'offloaded 0 calls, .*not in a job with these settings [1-9]'
    as_natively "by ATP"
    ;;
posted)
    # Non-blocking collectives, as natively, bit for bit: more in flight than a job takes, completed by all of MPI's functions.
    run_native posted || fail "failed natively"
    natively=$(digests)
    posted_as_natively() { # WHEN
        says 'offloaded [1-9][0-9]* calls, .*iallreduce [1-9][0-9]*, ireduce [1-9][0-9]*.*; failed 0'
        as_natively "$1"
    }
    run_shim "$on" posted || fail "failed with the shim"
    posted_as_natively "with the shim"
    says 'ibcast [1-9].*, iallgather [1-9].*, iallgatherv [1-9].*, ireduce_scatter [1-9].*, ireduce_scatter_block [1-9].*; by Open MPI .*non-blocking, before a blocking collective [1-9]'
    run_mpi "${shim[@]}" -x "$on" -x SWAGG_MIN_BYTES=0 "$of_library-posted" freed || fail "failed with a communicator that is freed at once"
    posted_as_natively "with a communicator that is freed at once"
    if [ "$as" = component ]; then
        run_shim "$on" SWAGG_LOCAL=auto posted || fail "failed with the level within a host"
        posted_as_natively "with the level within a host"
    fi
    # Who waits has all of a call that others leave to MPI_Finalize.
    run_mpi "${shim[@]}" -x "$on" "$of_library-posted" unfinished || fail "failed where calls are left to MPI_Finalize"
    says '^posted: rank [0-3]: 0 errors$' 4
    says '^swagg\[[0-2]\]: MPI_Ibcast of 1048576 .* failed: the program has called MPI_Finalize and not waited for its end' 3
    # Where nobody could do a call again.
    run_shim "$on" SWAGG_FALLBACK=native counted || fail "failed with SWAGG_FALLBACK=native"
    says 'by Open MPI .*non-blocking, with SWAGG_FALLBACK=native 2'
    # Of an error the communicator's handler hears; Open MPI 4.1, which tells it of the component's, takes MPI_COMM_WORLD's.
    heard="0 heard by MPI_COMM_WORLD's handler"
    [ "$as" != component ] || heard=${heard/0/2}
    # A rank that does not come is named by the deadline; ranks that post different calls hear of both.
    without_one() { # DEADLINE_MS
        run_mpi "${shim[@]}" -x "$on" -x "SWAGG_CALL_TIMEOUT_MS=$1" "$of_library-posted" missing || fail "failed where a rank is missing"
        says "^posted: rank [013]: 0 errors, $heard, first error: swagg: .*ranks? .*2" 3
        says '^swagg\[[0-3]\]: MPI_Iallreduce of 3000 MPI_INT \(MPI_SUM\) on apart of 4 ranks failed: ' 3
    }
    patiently without_one
    run_mpi "${shim[@]}" -x "$on" "$of_library-posted" mismatch || fail "failed where calls differ"
    says "^posted: rank [0-3]: 0 errors, $heard, first error: swagg: ranks called different collectives: .*allreduce of 2500 MPI_INT" 4
    ;;
persistent)
    # As natively, bit for bit. All but what came before the first blocking collective for the switch went there, as non-blocking calls.
    # MPICH 4.0.2's own are wrong: what comes at a second start is the first one's, in part. So Open MPI says what is right.
    as=${as/mpich/preload} run_mpi "$PROGRAMS/mpi-persistent" || fail "failed natively"
    natively=$(digests)
    run_shim "$on" SWAGG_MIN_BYTES=0 persistent || fail "failed with the shim"
    as_natively "with the shim"
    says 'offloaded [1-9][0-9]* calls, .*iallreduce [1-6], ireduce [1-6], ibcast [1-6], iallgather [1-6], iallgatherv [1-6], ireduce_scatter [1-6], ireduce_scatter_block [1-6], ibarrier [1-6].*; failed 0'
    [ "$as" != mpich ] || exit 0
    run_shim persistent || fail "failed without a switch"
    as_natively "without a switch"
    ;;
atp)
    # The switch as parameter server; in order, and as they come.
    for mode in ordered arrival; do
        run_shim "$on" SWAGG_PROTOCOL=atp SWAGG_MODE=$mode reductions || fail "failed in mode $mode"
        says '^reductions: [1-9][0-9]* checks, 0 wrong$'
        says "offloaded 542 calls, .*; failed 0; by Open MPI 1190 calls"
    done
    run_shim SWAGG_SERVER="$SWITCH_IP" SWAGG_PROTOCOL=atp progress || fail "failed with a server alone"
    says "switch ${SWITCH_IP//./\\.}: offloaded 3 calls"
    without_a_server() { # DEADLINE_MS
        run_shim SWAGG_SERVER="$SWITCH_IP,127.0.0.1" "SWAGG_ANSWER_TIMEOUT_MS=$1" SWAGG_PROTOCOL=atp progress || fail "failed where a server is missing"
        says "127\\.0\\.0\\.1 is there, but no swagg .*\\(SWAGG_SERVER=${SWITCH_IP//./\\.},127\\.0\\.0\\.1\\)"
    }
    patiently without_a_server
    run_shim "$on" SWAGG_PROTOCOL=auto SWAGG_SERVER=127.0.0.1 progress || fail "failed where there is room"
    says "offloaded 3 calls"
    # Where there is no room, and several servers share the job: two switches are as good as any.
    full="SWAGG_SWITCH=$FULL_SWITCH_IP"
    run_shim "$full" SWAGG_PROTOCOL=auto SWAGG_SERVER="$SWITCH_IP,$FULL_SWITCH_IP" SWAGG_LOG=info progress || fail "failed where there is no room"
    says '^progress: rank [0-3], 0 wrong$' 4
    says "offloaded 3 calls" 4
    [ "$(grep -c "goes by ATP, parameter server ${SWITCH_IP//./\\.} and others: .*all slots are taken" "$out")" -ge 4 ] || fail "not all ranks say that they go on by ATP"
    run_shim "$on" SWAGG_PROTOCOL=atp SWAGG_CHECKSUM=crc32c progress || fail "failed with a CRC32C"
    says '^progress: rank [0-3], 0 wrong$' 4
    says "offloaded 3 calls"
    run_shim "$on" SWAGG_PROTOCOL=atp SWAGG_REDUCE=buffered progress || fail "failed with two settings that exclude each other"
    says "SWAGG_REDUCE=buffered and SWAGG_PROTOCOL exclude each other"
    says "offloaded 0 calls"
    ;;
derived)
    run_shim "$on" derived || fail "failed with the shim"
    says '^derived: rank [0-3]: [1-9][0-9]* checks, 0 wrong$' 4
    says 'offloaded 40 calls, .*; by Open MPI 26 calls \(below SWAGG_MIN_BYTES 20 at 1 call site, MPI_SUM of a derived type 5 at 1 call site'
    ;;
arrays)
    # Python's arrays, of all their types. Without Open MPI's AVX operations, which limit some sums of 8 and 16 bits.
    arrays=(--mca op ^avx /usr/bin/python3 -m mpi4py "$tests/arrays.py")
    run_mpi "${arrays[@]}" || fail "failed natively"
    natively=$(digests)
    run_mpi "${shim[@]}" -x "$on" "${arrays[@]}" || fail "failed with the shim"
    says 'offloaded [1-9][0-9]* calls, .*; failed 0'
    as_natively "with the shim"
    ;;
hpcc)
    # The HPC Challenge benchmark at its smallest: what it tells at its end, but for times.
    results() { # MPIRUN OPTION...
        rm -f "$dir/hpccoutf.txt"
        run_mpi -wdir "$dir" "$@" hpcc || return
        sed -n '/^Begin of Summary/,$ { /time\|flops\|GUPs\|GBs\|GBytes\|usec\|STREAM_\|ExeUpdates/I!p }' "$dir/hpccoutf.txt"
    }
    cp "$tests/hpccinf.txt" "$dir"
    natively=$(results) || fail "failed natively"
    [[ $natively == *Success=1* ]] || fail "no success natively: $natively"
    with_shim=$(results "${shim[@]}" -x "$on" -x SWAGG_MIN_BYTES=0) || fail "failed with the shim"
    says 'offloaded [1-9][0-9]* calls, .*; failed 0'
    diff <(echo "$natively") <(echo "$with_shim") || fail "other results than without the shim (<)"
    ;;
counted)
    run_shim "$on" SWAGG_LOG=info "SWAGG_SUMMARY_JSON=$dir/%r.json" counted || fail "failed with the shim"
    says '^counted: rank [0-3]: right$' 4
    says "^swagg\[0\]: .* offloaded 5 calls, 131072 bytes \(allreduce 1, reduce 0, bcast 1, allgather 1, reduce_scatter 1, reduce_scatter_block 1\); failed 0; by Open MPI 17 calls \(below SWAGG_MIN_BYTES 9$(sites 3), MPI_SUM of MPI_LONG_DOUBLE 6$(sites 2), non-blocking, before a blocking collective 2$(sites 2)\); not for the switch: MPI_Gather 1$(sites 1), MPI_Scan 1$(sites 1)\$"
    says "^swagg\[[0-3]\]: swagg-mpi .*, $front\$" 4
    # What a component is not told is from how many places a program calls.
    kinds "$dir/0.json" | if [ "$as" = component ]; then awk -F '|' -v OFS='|' '$8 == 0 { $8 = $2 == "" && $1 == "MPI_Barrier" ? 3 : 1 } 1'; else cat; fi >"$out"
    says '^MPI_Allreduce\|MPI_SUM\|MPI_LONG_DOUBLE\|up to 64 bytes\|MPI_COMM_WORLD of 4 ranks\|Open MPI\|not in the switch with this type\|1\|5\|80$'
    says '^MPI_Reduce_scatter_block\|MPI_MAX\|MPI_INT\|up to 64K\|MPI_COMM_WORLD of 4 ranks\|switch\|\|1\|1\|16384$'
    says '^MPI_Allgather\|\|MPI_INT\|up to 64K\|MPI_COMM_WORLD of 4 ranks\|switch\|\|1\|1\|65536$'
    says '^MPI_Barrier\|\|\|no data\|MPI_COMM_WORLD of 4 ranks\|Open MPI\|below SWAGG_MIN_BYTES\|3\|9\|0$'
    says '^MPI_Scan\|MPI_SUM\|MPI_INT\|up to 64K\|\|Open MPI\|a collective that is not offloaded\|1\|1\|16384$'
    says '^MPI_Allreduce\|MPI_SUM\|MPI_INT\|up to 64K\|MPI_COMM_WORLD of 4 ranks\|switch\|\|1\|1\|16384$'
    ;;
crossover)
    # Measured at the fourth call of a size: from then on each call goes where that says, on all ranks alike. How fast both ways are
    # here decides nothing.
    unset SWAGG_MIN_BYTES
    run_shim "$on" SWAGG_LOG=info "SWAGG_SUMMARY_JSON=$dir/%r.json" crossover || fail "failed with the shim"
    says '^crossover: rank [0-3]: 0 wrong$' 4
    # Each size once, but for those that there was no time for; the other communicator takes that over.
    measured='^swagg\[0\]: MPI_COMM_WORLD of 4 ranks: MPI_(Allreduce|Reduce) goes to the switch [a-z].*: measured in'
    [ "$(grep -Ec "$measured" "$out")" = 15 ] || grep -q ', then time was up' "$out" || fail "not each size was measured once"
    grep -Eq ": MPI_Allreduce .* ms: 256 bytes took [0-9]* us with $library, [0-9]* us through the switch, in [0-9]* rounds" "$out" ||
        grep -q ': MPI_Allreduce .* ms, then time was up' "$out" || fail "what 256 bytes took is not told"
    says 'a communicator.*goes to the switch' 0
    kinds "$dir/0.json" | grep -v '^waited' | sort >"$dir/0"
    for rank in 1 2 3; do
        kinds "$dir/$rank.json" | grep -v '^waited' | sort >"$dir/$rank"
        diff "$dir/0" "$dir/$rank" >"$out" || fail "ranks 0 and $rank went other ways"
    done
    cp "$dir/0" "$out"
    # Of 150 small calls the first three before, and where the machine stood still at the fourth, those up to the sixteenth, and so on.
    small='^MPI_Allreduce|MPI_SUM|MPI_INT|up to 64 bytes|MPI_COMM_WORLD of 4 ranks|'
    before=$(sed -n "s/$small$library|not measured yet|1|\([0-9]*\)|.*/\1/p" "$out")
    [[ " 3 15 63 150 " == *" $before "* ]] || fail "$before small calls were made before it was known which way is faster"
    [ "$before" = 150 ] || says "${small//|/\\|}(switch\||Open MPI\|faster with Open MPI)\|1\|$((150 - before))\|$((8 * (150 - before)))$"
    [ "$(awk -F '|' '{ n += $9 } END { print n }' "$out")" = 342 ] || fail "not 342 calls are counted"
    # Again after many calls.
    run_mpi "${shim[@]}" -x "$on" -x SWAGG_LOG=info "$of_library-crossover" 1001 || fail "failed with small calls only"
    [ "$(grep -c 'goes to the switch' "$out")" -ge 2 ] || says 'goes to the switch' 2 # more where there was no time for the first
    # What is timed of Open MPI's is the function that the program calls: another one may be many times as slow.
    run_mpi -x "LD_PRELOAD=$SHIM $PROGRAMS/mpi-own_functions.so" -x "$on" -x SWAGG_LOG=info "$of_library-counts" || fail "failed with counts"
    says '^counts: rank [0-3]: 0 wrong$' 4
    says '^swagg\[0\]: MPI_COMM_WORLD of 4 ranks: MPI_(Allgatherv|Reduce_scatter) goes to the switch [a-z].*: measured in' 2
    says '^own functions: 0 MPI_Allgather, [1-9][0-9]* MPI_Allgatherv, [1-9][0-9]* MPI_Reduce_scatter, 0 MPI_Reduce_scatter_block$' 4
    run_shim "$on" SWAGG_LOG=info SWAGG_MIN_BYTES=8 crossover || fail "failed with a crossover that is set"
    says 'goes to the switch' 0
    says 'offloaded 342 calls' 4
    ;;
kept)
    # What one run has measured the next one knows from its first call on, and measures nothing.
    unset SWAGG_MIN_BYTES
    file=$dir/choices
    few=15 # calls: at the sixteenth is measured again what had no time at the fourth
    keeping() { # CALLS [MPIRUN OPTION...]
        rm -f "$dir"/[0-3].json
        run_mpi "${shim[@]}" -x "$on" -x SWAGG_LOG=info -x "SWAGG_CHOICES=$file" -x "SWAGG_SUMMARY_JSON=$dir/%r.json" "${@:2}" \
            "$of_library-crossover" "$1" || fail "failed with a file of choices"
        says '^crossover: rank [0-9]: 0 wrong$' "$(find "$dir" -name '[0-3].json' | wc -l)"
    }
    keeping "$few"
    says '^swagg\[0\]: SWAGG_CHOICES: 0 lines of [^ ]* count here, of those with [0-9.]+/[^ ]*/(Open_MPI_v4|MPICH_Version)[^ ]*/[0-9a-f]{16}$'
    says 'goes to the switch .*: measured in'
    network=$(sed -n 's/.* count here, of those with //p' "$out")
    for way in switch library; do
        printf 'swagg choices 1\n%s allreduce 256 bytes 4 ranks one-host %s %s\nend 1\n' "$(date -u +%FT%TZ)" $way "$network" >"$file"
        keeping "$few"
        says 'goes to the switch' 0
        says '^swagg\[0\]: SWAGG_CHOICES: 1 lines of '
        [ $way = switch ] || says 'job .?mpi-' 0
        [ $way = library ] || says '^swagg\[0\]: job mpi-.* allreduce always \(kept\), reduce not measured yet,'
        for rank in 0 1 2 3; do
            kinds "$dir/$rank.json" | grep -v '^waited' >"$out"
            [ $way = library ] || says "^MPI_Allreduce\\|.*\\|switch\\|\\|[01]\\|$few\\|$((8 * few))\$"
            [ $way = switch ] || says "^MPI_Allreduce\\|.*\\|Open MPI\\|faster with Open MPI in an earlier run\\|[01]\\|$few\\|$((8 * few))\$"
        done
    done
    # Damaged: told once.
    sed -i '$d' "$file"
    keeping "$few"
    says "^swagg\\[0\\]: SWAGG_CHOICES: $file is ignored, and replaced by what this run measures: it is damaged"
    says 'damaged' 1
    says 'goes to the switch .*: measured in'
    if [ "$as" = preload ]; then # the rest is one code; and four of MPICH's ranks on two CPUs may have too little time to measure
        # As it writes it. There may be too little time, where the machine stands still: then a later call, or another run, measures.
        rm "$file"
        for ((times = 0; times < 50; times++)); do
            keeping 64
            ! grep -q 'allreduce' "$file" || break
        done
        grep -Eq "^20[0-9-]+T[0-9:]+Z allreduce 256 bytes 4 ranks one-host (library|switch) ${network//+/.}$" "$file" ||
            fail "no such row in the file: $(cat "$file")"
        [ "$(cd "$dir" && echo *)" = "0.json 1.json 2.json 3.json choices" ] || fail "other files than these: $(ls "$dir")"
        keeping "$few"
        says 'goes to the switch' 0
        # Not for as many ranks; nor with other settings.
        keeping "$few" -n 2
        says 'goes to the switch .*: measured in'
        keeping "$few" -x SWAGG_WINDOW=7
        says 'goes to the switch .*: measured in'
        # Where it is wrong now, it is found out.
        keeping 1000
        says 'goes to the switch .*: measured in'
        file=/nowhere/at/all
        keeping "$few"
        says '^swagg\[0\]: SWAGG_CHOICES: cannot write /nowhere/at/all: No such file or directory'
    fi
    ;;
why)
    # While rank 1 is late, rank 0 tells at SIGUSR1 for whom it waits, by its number in MPI_COMM_WORLD.
    run_shim "$on" "SWAGG_SUMMARY_JSON=$dir/%r.json" "WHY_FILE=$dir/0.json" why || fail "failed with the shim"
    says '^why: rank [0-3]: 0 wrong, 0 signals$' 4
    grep -Eq '^swagg\[0\]: swagg-mpi .*: SWAGG_SWITCH=.* SWAGG_MIN_BYTES=8192 SWAGG_MODE=ordered' "$out" || fail "no settings in the table"
    grep -Eq '^swagg\[0\]: job mpi-[0-9a-f]+, made for backwards of 4 ranks: 64 slots of [0-9]+ bytes, window [0-9]+, round trip [0-9]+ us; allreduce from 8192 ' "$out" ||
        fail "no job in the table"
    grep -Eq '^swagg\[0\]: +2 +40000 +[0-9.]+ +[0-9.]+ +[0-9.]+  MPI_Allreduce, MPI_SUM, MPI_INT, up to 64K, backwards of 4 ranks: the switch, 2 call sites; one in progress for ' "$out" ||
        fail "no call in progress in the table"
    grep -Eq '^swagg\[0\]: waited for (.*, )?rank 1 [0-9]' "$out" || fail "the table does not say for whom rank 0 waits"
    for rank in 0 1 2 3; do
        kinds "$dir/$rank.json" >"$out"
        says '^MPI_Allreduce\|MPI_SUM\|MPI_INT\|up to 64K\|backwards of 4 ranks\|switch\|\|2\|2\|40000$'
        says '^MPI_Reduce\|MPI_MAX\|MPI_INT\|up to 64 bytes\|backwards of 4 ranks\|Open MPI\|below SWAGG_MIN_BYTES\|1\|3\|24$'
        [ "$rank" != 0 ] || says '^waited for 1$'
    done
    # One file where the name has no rank; handlers of the program's own are left alone.
    run_mpi "${shim[@]}" -x "$on" -x "SWAGG_SUMMARY_JSON=$dir/own.json" "$PROGRAMS/mpi-why" own || fail "failed with a handler of its own"
    says '^why: rank [0-3]: 0 wrong, 1 signals$' 4
    says '  what$' 0
    [ "$(cd "$dir" && echo *)" = "0.json 1.json 2.json 3.json own.json" ] || fail "other files than these: $(ls "$dir")"
    ranks=2
    run_shim "$on" SWAGG_SUMMARY_JSON=/nowhere/at/all.json progress || fail "failed with a file that cannot be"
    says '^swagg\[0\]: SWAGG_SUMMARY_JSON: cannot write /nowhere/at/all.json: No such file or directory'
    ln -s /dev/full "$dir/full.json.part"
    run_shim "$on" "SWAGG_SUMMARY_JSON=$dir/full.json" progress || fail "failed with a full disk"
    says "^swagg\\[0\\]: SWAGG_SUMMARY_JSON: cannot write $dir/full.json: No space left on device"
    [ -z "$(find "$dir" -name 'full*')" ] || fail "a part of a file is left on a full disk"
    ;;
progress) both_ways progress 3 0 ;;
corners)
    [ "$as" != preload ] || run_native corners || fail "failed natively" # MPICH 4.0.2's persistent calls are wrong
    run_shim "$on" SWAGG_MIN_BYTES=0 corners || fail "failed with the shim"
    says '^corners: rank [0-3]: 0 wrong$' 4
    says 'offloaded [1-9][0-9]* calls, .*bcast [1-9].*iallgather [1-9].*; failed 0'
    ;;
numbers)
    # Integers travel as they are, or with fp16 stay with Open MPI.
    both_ways numbers 4 0
    run_shim "$on" SWAGG_NUMBERS=int32 numbers || fail "failed with int32"
    says '^numbers: rank [0-3], 0 wrong$' 4
    says 'offloaded 3 calls, .*; failed 0; by Open MPI 1 calls \(not in a job with these settings 1 at 1 call site\)'
    run_shim "$on" SWAGG_NUMBERS=fp16 numbers || fail "failed with fp16"
    says '^numbers: rank [0-3], 0 wrong$' 4
    says 'offloaded 2 calls, .*; failed 0; by Open MPI 2 calls'
    ;;
compressed)
    # Eight sums of floats are compressed, on request; the small one and that of doubles are exact.
    both_ways compressed 10 16
    run_shim "$on" SWAGG_COMPRESSION=thc compressed || fail "failed with compression"
    says '^compressed: rank [0-3], 0 wrong$' 4
    # What the summary says of their error is what the program finds.
    said=$(sed -n 's/.*SWAGG_COMPRESSION=thc: the sums of 8 calls were approximate: they erred by \([0-9.e-]*\) of their own square.*/\1/p' "$out")
    found=$(sed -n 's/^compressed: a call errs by //p' "$out")
    python3 -c "assert abs($said - $found) < $found / 10" || fail "the summary says '$said', the program has found '$found'"
    # The shim's own calls, by which it measures, are compressed too, and do not count; the program's are of one element. Where the
    # machine stands still, the time for it may be up before anything is known: then once more.
    for _ in {1..10}; do
        (unset SWAGG_MIN_BYTES && run_mpi "${shim[@]}" -x "$on" -x SWAGG_LOG=debug -x SWAGG_COMPRESSION=thc \
            -x SWAGG_COMPRESSION_MIN_BYTES=256 "$of_library-one_buffer" 1) || fail "failed with compression, measured"
        grep -q 'MPI_COMM_WORLD .*, then time was up' "$out" || break
    done
    says '^swagg\[0\]: MPI_COMM_WORLD of 4 ranks: MPI_Allreduce goes to the switch .*: 256 bytes took '
    says 'sums of .* calls were approximate' 0
    ;;
compressed_training)
    # Whoever trains with compressed sums learns as well, and the same in every run.
    train() {
        run_mpi "${shim[@]}" -x "$on" -x SWAGG_COMPRESSION=thc "$PROGRAMS/../../mpi-shim/train-digits" \
            --data "$tests/../../mpi-shim/examples/data/digits.csv.gz" --epochs 8 || fail "failed to train"
        says '^model [0-9a-f]*, the same on all ranks; loss .*, accuracy 0.9[5-9]'
        says 'SWAGG_COMPRESSION=thc: the sums of 184 calls were approximate'
    }
    train
    model=$(sed -n 's/^model \([0-9a-f]*\),.*/\1/p' "$out")
    train
    says "^model $model, the same on all ranks"
    # A language model of half a million parameters: as much learned as with sums of floats, within a part in fifty.
    loss() {
        run_mpi "${shim[@]}" -x "$on" "$@" "$PROGRAMS/../../mpi-shim/train-text" --epochs 1 --steps 12 \
            /usr/share/common-licenses/GPL-3 || fail "failed to train"
        says '^model [0-9a-f]*, the same on all ranks; loss [0-9.]*, accuracy .*'
        sed -n 's/^model .*; loss \([0-9.]*\),.*/\1/p' "$out"
    }
    exact=$(loss)
    compressed=$(loss -x SWAGG_COMPRESSION=thc)
    says 'SWAGG_COMPRESSION=thc: the sums of 12 calls were approximate'
    python3 -c "assert 0 < abs($exact - $compressed) < $exact / 50" || fail "loss $exact, compressed $compressed"
    ;;
threads) both_ways threads 78 2 ;; # the first that are posted come before a blocking one
fortran)
    for binding in mpif mpi f08; do
        both_ways fortran-$binding 5 5
        says '^fortran: 0 wrong$'
        says 'offloaded 5 calls, .*iallreduce 1, ibcast 1'
    done
    both_ways fortran-types 18 1
    says '^fortran: 0 wrong$'
    ;;
settings)
    ranks=2
    run_shim progress || fail "failed without a switch's address"
    says '^swagg\[0\]: SWAGG_SWITCH is not set'
    run_shim "$on" SWAGG_MODE=odered "SWAGG_SUMMARY_JSON=$dir/all.json" progress || fail "failed with a wrong setting"
    kinds "$dir/all.json" >>"$out"
    says '^offload is off: SWAGG_MODE=odered: use ordered or arrival$'
    says '^swagg\[0\]: SWAGG_MODE=odered: use ordered or arrival'
    says 'offloaded 0 calls'
    run_shim "$on" SWAGG_CHECKSUM=crc32c progress || fail "failed with a checksum"
    says 'offloaded 3 calls'
    run_shim "$on" SWAGG_MINBYTES=1 progress || fail "failed with an unknown setting"
    says '^swagg\[0\]: SWAGG_MINBYTES is not a setting'
    says 'offloaded 3 calls'
    run_shim "$on" SWAGG_MIN_BYTES=1M progress || fail "failed with a high threshold"
    says 'offloaded 0 calls, .* \(below SWAGG_MIN_BYTES 3 at [0-9] call sites?\)'
    run_shim "$on" SWAGG_LOG=info progress || fail "failed with a chatty log"
    says '^swagg\[[01]\]: switch .*: offloaded 3 calls' 2
    run_shim "$on" SWAGG_DISABLE=1 progress || fail "failed when disabled"
    says '^swagg' 0
    ;;
no_switch)
    run_shim SWAGG_SWITCH=127.1.2.3 SWAGG_JOIN_TIMEOUT_MS=3000 SWAGG_ANSWER_TIMEOUT_MS=3000 "SWAGG_SUMMARY_JSON=$dir/%r.json" reductions || fail "failed without a switch"
    says 'stays with Open MPI' # and that once, not for every communicator
    says 'offloaded 0 calls, .*no service from the switch 542 at 2 call sites, no elements 150 '
    says '^swagg' 2 # that, and the summary
    kinds "$dir/3.json" >"$out"
    says '^no service from the switch: MPI_COMM_WORLD: rank [0-3]: .*127\.1\.2\.3 '
    ;;
crowd)
    # The loopback switch has 16 jobs. 20 communicators of the same ranks share one, and so do 20 in a row, and 10; pairs have another.
    both_ways crowd 60 "$([ "$as" = component ] && echo 41 || echo 21)" # it counts what Open MPI calls to split a communicator
    says '^crowd: 0 wrong$' 4
    says '^swagg' 1
    run_shim "$on" SWAGG_LOG=info crowd || fail "failed with a chatty log"
    says 'job mpi-[0-9a-f]+ of 4 ranks at switch' 1
    # Threads may reduce at once, so each communicator has its own: some of 20 are refused, with one warning.
    run_mpi "${shim[@]}" -x "$on" "$of_library-crowd" threads || fail "failed with threads"
    says 'offloaded 3[0-9] calls, .*; failed 0; by Open MPI 2[5-9] calls \(below SWAGG_MIN_BYTES 21.*, no service from the switch [4-8]'
    says '^crowd: 0 wrong$' 4
    says '^swagg\[0\]: .* stays with Open MPI.* refused by the switch'
    says '^swagg' 2
    # Small tensors have few slots, and the job grows after the first large one.
    run_shim "$on" SWAGG_LOG=info sizes || fail "failed with tensors that grow"
    says '^sizes: 0 wrong$' 4
    says '^swagg\[0\]: job .* is in: .* 64 slots'
    says '^swagg\[0\]: job .*\.1.* is in: .* 1024 slots'
    says '^swagg\[0\]: switch .* offloaded 6 calls, .* failed 0'
    ;;
roll_call)
    # Whoever lacks the shim, has it disabled or has another build of it.
    some_lack_it
    run_mpi -n 3 "${shimmed[@]}" : -n 1 -x "LD_PRELOAD=$PROGRAMS/mpi-other_build.so" "$of_library-progress" ||
        fail "failed where one rank has another build"
    says "^swagg\[0\]: Open MPI's own .*: rank 3 has swagg-mpi 9.9.9 \(format 77\), rank 0 has .* the same build"
    says '^swagg' 2
    # Two of them that agree with one another.
    run_mpi -n 2 -x "LD_PRELOAD=$PROGRAMS/mpi-other_build.so" "$of_library-progress" : -n 2 -x SWAGG_LOG=info "${shimmed[@]}" ||
        fail "failed where the first ranks have another build"
    says '^progress: rank [0-3], 0 wrong' 4
    says '^swagg\[[23]\]: switch .*: offloaded 0 calls' 2
    run_mpi --mca pmix_base_collect_data 0 "${shimmed[@]}" || fail "failed where nothing can be known"
    says "^swagg\\[0\\]: Open MPI's own .*cannot be known: run without OMPI_MCA_pmix_base_async_modex"
    # A late rank is not an absent one, whatever the timeouts.
    run_mpi -x "LD_PRELOAD=$PROGRAMS/mpi-late.so $SHIM" -x SWAGG_JOIN_TIMEOUT_MS=1 "$of_library-progress" ||
        fail "failed with a rank that is late"
    says '^swagg\[0\]: SWAGG_SWITCH is not set'
    says '^swagg' 2
    ;;
transports)
    # Open MPI's other ways to send messages, as far as they run on this machine.
    transport() { # MPIRUN OPTION...
        timeout 1200 mpirun --oversubscribe -n 4 --mca hwloc_base_binding_policy none --mca mpi_yield_when_idle 1 \
            --mca orte_base_help_aggregate 0 "$@" "$of_library-progress" >"$out" 2>&1 </dev/null
    }
    try() { # MPIRUN OPTION...
        transport "$@" || { echo "skipped: $*"; return; }
        transport "${shim[@]}" -x "$on" "$@" || fail "failed with $*"
        says 'offloaded 3 calls'
        says '^progress: rank [0-3], 0 wrong' 4
    }
    try --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any -x UCX_TLS=tcp,self -x UCX_NET_DEVICES=lo
    try --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include tcp
    try --mca pml_monitoring_enable 1 --mca btl tcp,self --mca btl_tcp_if_include lo
    ;;
beside)
    # A tracer sees what goes to Open MPI; before the shim, it sees all calls.
    ranks=2
    run_mpi -x "LD_PRELOAD=$SHIM $PROGRAMS/mpi-tracer.so" -x "$on" "$of_library-progress" || fail "failed before a tracer"
    says '^tracer: 1 times initialised, 0 calls' 2
    says 'offloaded 3 calls'
    run_mpi -x "LD_PRELOAD=$SHIM $PROGRAMS/mpi-tracer.so" -x "$on" -x SWAGG_MIN_BYTES=1G "$of_library-progress" ||
        fail "failed before a tracer, with Open MPI's collectives"
    says '^tracer: 1 times initialised, 3 calls' 2
    says 'by Open MPI 3 calls'
    run_mpi -x "LD_PRELOAD=$PROGRAMS/mpi-tracer.so $SHIM" -x "$on" "$of_library-progress" || fail "failed behind a tracer"
    says '^tracer: 1 times initialised, 3 calls' 2
    says 'offloaded 3 calls'
    # Another MPI library: out of the way.
    env "LD_PRELOAD=$SHIM" "$on" "$PROGRAMS/mpi-other" >"$out" 2>&1 || fail "failed with another MPI library"
    says '^other MPI: allreduce of 100000, type 4c00040a, operation 58000003, communicator 44000000$'
    says '^other MPI: finalized$'
    says "^swagg.*: this program's MPI library is not Open MPI"
    ;;
mismatch)
    # Told once by each rank, with both calls.
    run_shim "$on" mismatch || fail "failed, although errors are returned"
    says '^mismatch: rank [0-3]: an error' 4
    says '^swagg\[[0-3]\]: .* failed: ranks called different collectives: .*allreduce of 30000 MPI_FLOAT \(MPI_SUM\)' 4
    says '^swagg' 5 # and the summary
    ;;
refused)
    # What Open MPI refuses is refused alike, and the switch is as good as before.
    run_native refused || fail "failed natively"
    answers=$(grep '^refused' "$out" | sort)
    run_shim "$on" refused || fail "failed with the shim"
    [ "$(grep '^refused' "$out" | sort)" = "$answers" ] || fail "other answers than Open MPI's, which are"$'\n'"$answers"
    says 'offloaded 2 calls, .*; failed 0'
    if [ "$as" = preload ]; then # the component is not called at all
        says 'by Open MPI .*arguments that Open MPI refuses 1[0-9]'
        says '^swagg\[0\]: this rank takes no part in an MPI_Allreduce, .* refuses here: MPI_ERR_BUFFER'
    fi
    ;;
left)
    run_shim "$on" left || fail "failed with the shim"
    says '^left: rank [0-3]: 0 wrong$' 4
    says '^swagg\[0\]: .* offloaded 2 calls, .*; failed 0; by Open MPI 2 calls \(arguments that Open MPI refuses 2 at 2 call sites\)$'
    ;;
one_buffer)
    # To send from and to receive in, where Open MPI takes that: a call goes the same way on all ranks, whatever they have.
    one_buffer() { # [MPIRUN OPTION...] PROGRAM ARGUMENT...
        run_mpi "${shim[@]}" -x "$on" "$@" || fail "failed with $*"
    }
    one_buffer -x SWAGG_MIN_BYTES=0 "$of_library-one_buffer" 1
    says '^one_buffer: rank [0-3]: 0 wrong$' 4
    says 'offloaded 150 calls, .*; failed 0; by Open MPI 0 calls'
    (unset SWAGG_MIN_BYTES && one_buffer "$of_library-one_buffer" 1) # measured after some of the calls
    says '^one_buffer: rank [0-3]: 0 wrong$' 4
    one_buffer --mca mpi_param_check 0 "$of_library-one_buffer" 20000 reduce
    says '^one_buffer: rank [0-3]: 0 wrong$' 4
    says 'offloaded 300 calls, .*; failed 0; by Open MPI 0 calls'
    one_buffer --mca mpi_param_check 0 -x "SWITCH_PID=$SWITCH_PID" -x SWAGG_CALL_TIMEOUT_MS=2000 -x SWAGG_FALLBACK=native \
        "$of_library-faults" one-buffer
    says '^faults: rank [0-3]: 0 of 20 calls failed, 0 sums wrong' 4
    says '^swagg\[0\]: MPI_COMM_WORLD: Open MPI does this collective again'
    ;;
gpu)
    run_shim "$on" gpu || fail "failed with the shim"
    says '^gpu: rank [0-3], 0 wrong$' 4
    says "offloaded 3 calls, .*; by Open MPI 3 calls \(buffers in a GPU's memory 3 at 2 call sites\)"
    says "^swagg\[0\]: MPI_Allreduce of a buffer in a GPU's memory: such calls stay with Open MPI"
    says '^swagg' 2 # that, and the summary
    ;;
fault_error)
    # On every rank: an error that says what happened, no wrong sum, no hang.
    run_shim "$on" "SWITCH_PID=$SWITCH_PID" SWAGG_CALL_TIMEOUT_MS=2000 faults || fail "did not end well"
    # The one that is hit and those behind it; more where a call before it took too long.
    says '^faults: rank [0-3]: ([1-9]|1[0-9]|20) of 20 calls failed, 0 sums wrong; first error: swagg: .*' 4
    says '^swagg\[[0-3]\]: MPI_Allreduce of 1000003 MPI_INT \(MPI_SUM\) on MPI_COMM_WORLD failed: ' 4
    ;;
fault_native)
    # A rank that cannot keep the input of an in-place call: all of them have it done again, and keep what they have. In this program
    # buffers are named twice, which MPICH refuses.
    if [ "$as" != mpich ]; then
        sums=(-x "$on" -x SWAGG_FALLBACK=native "$of_library-one_buffer" 20000)
        without=("${shim[@]}" -x "LD_PRELOAD=$PROGRAMS/mpi-no_memory.so")
        [ "$as" = component ] || without=(-x "LD_PRELOAD=$PROGRAMS/mpi-no_memory.so $SHIM")
        run_mpi --mca mpi_param_check 0 -n 3 "${shim[@]}" "${sums[@]}" : -n 1 "${without[@]}" "${sums[@]}" ||
            fail "failed with a rank that has no memory"
        says '^one_buffer: rank [0-3]: 0 wrong' 4
        says '^swagg\[0\]: .*Open MPI does this collective again.* no memory to keep the input'
    fi
    # The call that failed is done again: nobody sees an error.
    run_shim "$on" "SWITCH_PID=$SWITCH_PID" SWAGG_CALL_TIMEOUT_MS=2000 SWAGG_FALLBACK=native faults ||
        fail "did not end well"
    says '^faults: rank [0-3]: 0 of 20 calls failed, 0 sums wrong' 4
    says '^swagg\[0\]: MPI_COMM_WORLD: Open MPI does this collective again'
    says 'offloaded 1?[0-9] calls, .*no service from the switch ([1-9]|1[0-9]|20)( at [12] call sites?)?\)'
    ;;
fault_exchanges)
    # In the middle of a broadcast, an all-gather and a reduce-scatter: an error on every rank, or all of it again.
    hit() { # WHICH [SETTING...]
        local setting options=("${shim[@]}" -x "$on" -x "SWITCH_PID=$SWITCH_PID" -x SWAGG_CALL_TIMEOUT_MS=2000)
        for setting in "${@:2}"; do
            options+=(-x "$setting")
        done
        run_mpi "${options[@]}" "$of_library-faults" exchanges "$1" || fail "did not end well ($*)"
        kill -USR2 "$SWITCH_PID"
    }
    broken=(0 1 2)
    [ "$as" != mpich ] || broken=(1) # its ranks poll while they wait
    for which in "${broken[@]}"; do
        hit "$which"
        says '^faults: rank [0-3]: ([1-9]|1[0-9]|20) of 20 calls failed, 0 sums wrong; first error: swagg: .*' 4
        says '^swagg\[[0-3]\]: MPI_(Bcast|Allgather|Reduce_scatter_block) of 1?[0-9]{6} MPI_INT.* on MPI_COMM_WORLD failed: ' 4
        hit "$which" SWAGG_FALLBACK=native
        says '^faults: rank [0-3]: 0 of 20 calls failed, 0 sums wrong' 4
        says '^swagg\[0\]: MPI_COMM_WORLD: Open MPI does this collective again'
    done
    ;;
component)
    # What is the component's alone.
    run_shim "$on" reductions || fail "failed with the component"
    says '^reductions: [1-9][0-9]* checks, 0 wrong$'
    # More than with the preload: Open MPI reduces and broadcasts in each group of an intercommunicator, by a communicator of its own.
    says 'offloaded 544 calls, .*bcast 1\); failed 0; by Open MPI 1027 calls \(below SWAGG_MIN_BYTES 907, MPI_SUM of MPI_LONG_DOUBLE 90, a user.s operation 30\)'
    # Parameters: there is one for each variable, and it counts more than that. Known to ompi_info; those of a file count, too.
    ranks=2
    run_mpi "${shim[@]}" --mca coll_swagg_switch "$SWITCH_IP" --mca coll_swagg_min_bytes 1M "$of_library-progress" ||
        fail "failed with parameters"
    says "^swagg\[0\]: switch ${SWITCH_IP//./\\.}: offloaded 0 calls, .*; by Open MPI 3 calls \(below SWAGG_MIN_BYTES 3\)"
    OMPI_MCA_coll_swagg_mode=arrival OMPI_MCA_mca_base_component_path=${shim[2]} ompi_info --param coll swagg --level 9 >"$out"
    says 'parameter "coll_swagg_mode" \(current value: "arrival", data source: environment'
    says 'parameter "coll_swagg_priority" \(current value: "95"'
    says '^ *SWAGG_MODE: .* \(ordered, arrival\)$'
    says 'parameter "coll_swagg_' "$(($(grep -c '^| `SWAGG_' "$tests/../../docs/mpi.md") + 1))"
    # A handler that a program has found is still there when MPI_Finalize has closed the component.
    run_shim "$on" chained || fail "a signal after MPI_Finalize ends a program"
    says '^chained: rank [01] lives$' 2
    # It can be chosen, and left out; nobody is asked where nobody names a switch, and says why if asked.
    run_mpi "${shim[@]}" -x "$on" --mca coll_swagg_priority -1 "$of_library-progress" || fail "failed with the component left out"
    says '^swagg' 0
    (unset SWAGG_LOCAL SWAGG_MIN_BYTES SWAGG_ANSWER_TIMEOUT_MS SWAGG_JOIN_TIMEOUT_MS && run_mpi "${shim[@]}" "$of_library-progress") ||
        fail "failed where nobody asked for swagg"
    says 'swagg' 0
    (unset SWAGG_LOCAL SWAGG_MIN_BYTES SWAGG_ANSWER_TIMEOUT_MS SWAGG_JOIN_TIMEOUT_MS &&
        run_mpi "${shim[@]}" --mca coll_base_verbose 1 "$of_library-progress") || fail "failed where somebody asks why"
    says 'coll:swagg: no switch is named' 2
    run_mpi "${shim[@]}" -x "$on" --mca coll_swagg_priority 1 --mca coll_base_verbose 1 "$of_library-progress" ||
        fail "failed with nothing to hand on to"
    says '^progress: rank [01], 0 wrong' 2
    [ "$(grep -c 'coll:swagg: no component of lower priority has all collectives' "$out")" -ge 2 ] || fail "does not say why"
    # With the preload, too, only one of them acts, and that is said once.
    run_mpi "${shim[@]}" -x "LD_PRELOAD=$SHIM" -x "$on" "$of_library-progress" || fail "failed with both"
    says '^swagg\[0\]: Open MPI has loaded swagg.s component, .* the preload \(LD_PRELOAD\) is not needed'
    says '^swagg\[0\]: switch .* offloaded 3 calls'
    says '^swagg' 2
    # Not with another Open MPI than the one that it was built for.
    run_mpi "${shim[@]}" -x "LD_PRELOAD=$PROGRAMS/mpi-other_version.so" -x "$on" "$of_library-progress" ||
        fail "failed with another version"
    says '^progress: rank [01], 0 wrong' 2
    says 'coll:swagg: this component was built for Open MPI 4\.1, and this is Open MPI v5\.0\.7: it is not used' 2
    # One command that finds it: the preload only where there is no component.
    run_swagg_mpirun() {
        local options=(--oversubscribe -n "$ranks" --mca btl "tcp,self" --mca btl_tcp_if_include lo --mca mpi_yield_when_idle 1)
        timeout 1200 env "$on" SWAGG_LOG=info "$1" "${options[@]}" "$of_library-progress" >"$out" 2>&1 </dev/null
    }
    ! "${SHIM%/*}/swagg-mpirun" 2>"$out" || fail "swagg-mpirun has nothing to run"
    says '^usage: swagg-mpirun'
    run_swagg_mpirun "${SHIM%/*}/swagg-mpirun" || fail "failed with swagg-mpirun"
    says '^swagg\[[01]\]: swagg-mpi .*, component$' 2
    says '^swagg\[[01]\]: switch .* offloaded 3 calls' 2
    cp "${SHIM%/*}/swagg-mpirun" "$SHIM" "$dir"
    run_swagg_mpirun "$dir/swagg-mpirun" || fail "failed with swagg-mpirun where there is no component"
    says '^swagg\[[01]\]: swagg-mpi .*, preload$' 2
    says '^swagg\[[01]\]: switch .* offloaded 3 calls' 2
    # Ranks that have it, and others.
    run_mpi -n 2 -x "OMPI_MCA_mca_base_component_path=${shim[2]}" -x "$on" "$of_library-progress" : -n 2 "$of_library-progress" ||
        fail "failed where half of the ranks lack the component"
    says "^swagg\[0\]: Open MPI's own collectives are used: rank 2 has no shim, or .* mca_coll_swagg.so"
    run_mpi -n 2 -x "OMPI_MCA_mca_base_component_path=${shim[2]}" -x "$on" "$of_library-progress" : \
        -n 2 -x "LD_PRELOAD=$SHIM" -x "$on" "$of_library-progress" || fail "failed where half of the ranks have the preload"
    says "^swagg\[0\]: Open MPI's own collectives are used: rank 2 has swagg as a preload, rank 0 as a component"
    says '^progress: rank [0-3], 0 wrong' 4
    ;;
mpich)
    # What is MPICH's alone. Ranks that have the shim, and others; by the launcher's lines.
    run_shim "$on" reductions || fail "failed with the shim"
    says '^reductions: [1-9][0-9]* checks, 0 wrong$'
    says 'offloaded 542 calls, .*; failed 0; by MPICH 1190 calls \(below SWAGG_MIN_BYTES 901 at [0-9] call sites'
    some_lack_it ", or .* mpiexec -genv LD_PRELOAD"
    # A path with characters that the lines cannot have as they are, and one longer than a line's value.
    long=/$(printf 'a=%%%.0s' {1..80})
    run_shim "$on" "SWAGG_KEY_FILE=$long" progress || fail "failed with a long path"
    says "progress: rank [0-3], 0 wrong" 4
    [ "$(grep -cF "$long" "$out")" -gt 0 ] || fail "the path did not get to the ranks"
    # One command for both, which finds out whose mpirun it has.
    MPIRUN=mpirun.mpich timeout 1200 env "$on" SWAGG_LOG=info "${SHIM%/*}/swagg-mpirun" -n 4 "$of_library-progress" >"$out" 2>&1 </dev/null ||
        fail "failed with swagg-mpirun"
    says '^swagg\[[0-3]\]: swagg-mpi .*, preload for MPICH$' 4
    says '^swagg\[[0-3]\]: switch .* offloaded 3 calls' 4
    # The other preload, and the other launcher: said by name.
    LD_PRELOAD=$SHIM "$of_library-crowd" >"$out" 2>&1 || fail "failed with Open MPI's preload"
    says "^swagg.*: this program's MPI library is not Open.MPI: .* libswagg-mpich.so for MPICH"
    ! LD_PRELOAD=$MPICH_SHIM "$PROGRAMS/mpi-crowd" >"$out" 2>&1 || fail "ran with MPICH's preload in Open MPI's program"
    says "^swagg.*: this program's MPI library is not MPICH, and cannot run with libswagg-mpich.so"
    timeout 600 mpirun --oversubscribe -n 2 -x "LD_PRELOAD=$MPICH_SHIM" -x "$on" "$of_library-crowd" >"$out" 2>&1 </dev/null ||
        fail "failed with Open MPI's mpirun"
    says "^swagg\[0\]: this is a program for MPICH, and Open.MPI's mpirun has started it: each of its processes is alone"
    timeout 600 mpirun.mpich -n 2 -env LD_PRELOAD "$SHIM" -env SWAGG_SWITCH "$SWITCH_IP" "$PROGRAMS/mpi-crowd" >"$out" 2>&1 </dev/null ||
        fail "failed with MPICH's mpiexec"
    says "^swagg\[0\]: this is a program for Open.MPI, and MPICH's mpiexec has started it: each of its processes is alone"
    ;;
*) fail "no such case" ;;
esac
