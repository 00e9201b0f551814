# shellcheck shell=bash
# shellcheck disable=SC2154 # of atp.sh and parts.sh
# One job: by ATP, and in slots of SwitchML's; and where no switch adds, by ATP and by Open MPI.

atp_alone() {
    local calls=4
    [ -z "$quick" ] || calls=2
    atp_hosts
    atp_switch "atp: {aggregators: 4096}"
    measure atp_alone,switchml 1 switchml -b 8M -e 8M -n "$calls" -w 1
    measure atp_alone,atp 1 atp -b 8M -e 8M -n "$calls" -w 1
    net_swagg_stop
    net_bridge
    measure atp_alone,no_switch 1 atp -b 8M -e 8M -n "$calls" -w 1
    atp_openmpi "$calls"
    net_bridge_remove
}

atp_openmpi() { # CALLS
    local to=$records/$run,atp_alone,openmpi.json
    [ ! -s "$to" ] || return 0
    net_mpirun "$WORKERS" -- "$NET_BUILD/bench/mpi-perf" -b 8M -e 8M -n "$1" -w 1 --json "$NET_DIR/new.json" >"$NET_DIR/mpi.log" 2>&1 ||
        fail "Open MPI: $(tail -n 5 "$NET_DIR/mpi.log")"
    mv "$NET_DIR/new.json" "$to"
    printf '  run %s: atp_alone,openmpi\n' "$run"
}
