# shellcheck shell=bash
# Hugepages for a measurement. The kernel has one number of them for the whole machine (vm.nr_hugepages), and no way to add to it:
# who reads it, adds and writes undoes what another script does meanwhile. So pages are added and given back under a lock, and
# whoever holds some leaves a record: a file with their number, which stays locked as long as the script or a child of it lives.
# Pages of a script that was killed are given back by the next one that wants some.
#
# What runs beside a measurement must leave its pages alone: netns.sh has every swagg use ordinary memory, but those of scripts
# that hold pages.

HUGEPAGES_KERNEL=${HUGEPAGES_KERNEL:-/proc/sys/vm/nr_hugepages} # another file in the test
HUGEPAGES_RECORDS=${HUGEPAGES_RECORDS:-/run/lock/swagg-hugepages}
HUGEPAGES_RECORD= # of this script; empty: it holds none

# Adds as many pages of 2 MB for this script; false: the kernel does not have so many, and nothing has changed.
hugepages_take() { # PAGES
    local status=0
    hugepages_locked hugepages_add "$1" || status=$?
    return "$status"
}

hugepages_give_back() {
    [ -z "$HUGEPAGES_RECORD" ] || hugepages_locked hugepages_remove
}

hugepages_locked() { # FUNCTION [ARGUMENT...]
    local lock status=0
    mkdir -p "$HUGEPAGES_RECORDS"
    exec {lock}>"$HUGEPAGES_RECORDS/lock"
    flock "$lock"
    "$@" || status=$?
    exec {lock}>&-
    return "$status"
}

# --- with the lock held ----------------------------------------------------------------------------------------------

hugepages_change() { # BY
    echo $(($(cat "$HUGEPAGES_KERNEL") + $1)) 2>/dev/null >"$HUGEPAGES_KERNEL" || true
}

hugepages_add() { # PAGES
    local before got
    [ -f "$HUGEPAGES_KERNEL" ] || return 1 # a kernel without any
    hugepages_settle
    before=$(cat "$HUGEPAGES_KERNEL")
    hugepages_change "$1"
    got=$(($(cat "$HUGEPAGES_KERNEL") - before))
    if [ "$got" -lt "$1" ]; then
        hugepages_change "-$got"
        return 1
    fi
    HUGEPAGES_RECORD=$(mktemp "$HUGEPAGES_RECORDS/XXXXXX.pages")
    echo "$got" >"$HUGEPAGES_RECORD"
    exec {hugepages_alive}<"$HUGEPAGES_RECORD"
    flock "$hugepages_alive"
}

hugepages_remove() {
    hugepages_change "-$(cat "$HUGEPAGES_RECORD")"
    rm "$HUGEPAGES_RECORD"
    exec {hugepages_alive}<&-
    HUGEPAGES_RECORD=
}

# Gives back what scripts hold that have been killed.
hugepages_settle() {
    local record
    for record in "$HUGEPAGES_RECORDS"/*.pages; do
        if [ -e "$record" ] && flock -n "$record" true; then
            hugepages_change "-$(cat "$record")"
            rm "$record"
        fi
    done
}
