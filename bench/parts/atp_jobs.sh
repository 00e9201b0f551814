# shellcheck shell=bash
# shellcheck disable=SC2154 # of atp.sh and parts.sh
# Two and three jobs on the same hosts, with aggregators for all and for one: these are shared as packets come, or divided, or in
# their place each job has slots of SwitchML's. All work all the time, or in turns, so that a job is off half of the time or more.

FEW_SLOTS=32 # chunks that a job has under way, at most, where aggregators are scarce

atp_jobs() {
    local jobs calls=3
    [ -z "$quick" ] || calls=2
    atp_hosts
    atp_jobs_find_memory
    for jobs in 2 3; do
        [ -z "$quick" ] || [ "$jobs" = 2 ] || continue
        atp_jobs_with_room "$jobs"
        atp_jobs_by dynamic "$jobs" 1
        atp_jobs_by static "$jobs" "$jobs"
        atp_jobs_in_slots "$jobs"
    done
}

atp_jobs_with_room() { # JOBS
    atp_switch "atp: {aggregators: 4096}"
    measure "atp_jobs,all_on,$1" "$1" atp -b 16M -e 16M -n 1 -w 0 --pause 2000
    net_swagg_stop
}

# What is memory for one: the fewest aggregators with which a job that is alone fills its link (atp_jobs.py).
atp_jobs_find_memory() {
    # shellcheck disable=SC2034 # atp.sh's
    local SLOTS=$FEW_SLOTS
    for ONE_JOBS_MEMORY in 2 4 6 8 12 16 24 32; do
        atp_switch "atp: {aggregators: $ONE_JOBS_MEMORY}"
        measure "atp_jobs,one,$ONE_JOBS_MEMORY" 1 atp -b 16M -e 16M -n 1 -w 0 --pause 2000
        net_swagg_stop
        ! atp_jobs_fills "$records/$run,atp_jobs,one,$ONE_JOBS_MEMORY.json" || break
    done
    printf '{"aggregators": %s}\n' "$ONE_JOBS_MEMORY" >"$records/$run,atp_jobs,memory.json"
}

atp_jobs_fills() { # RECORD
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$NET_ROOT/bench python3 -c 'import json, sys
from parts import atp_jobs
sys.exit(not atp_jobs.fills(json.load(open(sys.argv[1]))))' "$1"
}

atp_jobs_by() { # WHAT JOBS PARTS
    # shellcheck disable=SC2034 # atp.sh's
    local SLOTS=$FEW_SLOTS
    atp_switch "atp: {aggregators: $ONE_JOBS_MEMORY, parts: $3}"
    [ "$1" = static ] || measure "atp_jobs,all_on_scarce,$2" "$2" atp -b 16M -e 16M -n 1 -w 0 --pause 2000
    atp_jobs_in_turns "$1" "$2" atp
    net_swagg_stop
}

# A job's part of the same memory: a slot keeps two chunks, the one that it collects and the one before. A power of two, rounded up.
atp_jobs_in_slots() { # JOBS
    # shellcheck disable=SC2034 # atp.sh's
    local SLOTS=2
    while [ $((SLOTS * 2 * $1)) -lt "$ONE_JOBS_MEMORY" ]; do SLOTS=$((SLOTS * 2)); done
    atp_switch
    atp_jobs_in_turns slots "$1" switchml
    net_swagg_stop
}

# A call of a job in turn begins when the one of the job before is over, at the rate of a job that has its aggregators.
atp_jobs_in_turns() { # WHAT JOBS BY
    OFFSET=900 measure "atp_jobs,$1,$2" "$2" "$3" -b 4M -e 4M -n "$calls" -w 0 --pause $((900 * $2))
}
