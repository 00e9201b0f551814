#!/usr/bin/env bash
# Hugepages of scripts that measure side by side: nobody's are counted twice or lost, also when a script is killed. The kernel's
# number is a file here, which is read and written as slowly as by a busy machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HUGEPAGES_KERNEL=$dir/nr_hugepages HUGEPAGES_RECORDS=$dir/records
# shellcheck source=script/lib/hugepages.sh
. "$root/script/lib/hugepages.sh"

SCRIPTS=6 ROUNDS=4 BEFORE=7
echo "$BEFORE" >"$HUGEPAGES_KERNEL"

has() { # WHAT PAGES
    [ "$(cat "$HUGEPAGES_KERNEL")" = "$2" ] || { echo "$1: $(cat "$HUGEPAGES_KERNEL") pages, expected $2"; exit 1; }
}

# A script that takes pages, says so, and holds them until it can read a word.
mkfifo "$dir/word" "$dir/taken"
exec 8<>"$dir/word" 9<>"$dir/taken"
holder() { # PAGES
    bash -euc '. "$1"; hugepages_take "$2"; echo taken >&9; read -r -u 8; hugepages_give_back' holder \
        "$root/script/lib/hugepages.sh" "$1" &
}

# Scripts that take and give back in turn, all at once.
turns() { # PAGES
    local i
    for ((i = 0; i < ROUNDS; i++)); do
        hugepages_take "$1" || return 1
        hugepages_give_back
    done
}
pids=()
for ((s = 1; s <= SCRIPTS; s++)); do
    turns "$s" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || { echo "a script got no pages"; exit 1; }
done
has "after all have given back" "$BEFORE"

# Two hold pages at once; one is killed, and its pages go with the next script's first step.
holder 5
killed=$!
holder 3
kept=$!
read -r -u 9
read -r -u 9
has "with two scripts" $((BEFORE + 8))
kill -KILL "$killed"
wait "$killed" 2>/dev/null || true
hugepages_take 2
has "with the other and this one" $((BEFORE + 5))
hugepages_give_back
hugepages_give_back # does nothing
has "with the other one" $((BEFORE + 3))
echo go >&8
wait "$kept"
has "at the end" "$BEFORE"

# A kernel without hugepages gives none.
if HUGEPAGES_KERNEL=$dir/none hugepages_take 1; then
    echo "a page was taken of a kernel without any"
    exit 1
fi
[ ! -e "$dir/none" ] || { echo "the kernel's number was made up"; exit 1; }

# A kernel that has no room for so many gives none.
hugepages_change() { # BY
    local n=$(($(cat "$HUGEPAGES_KERNEL") + $1))
    echo $((n > BEFORE + 4 ? BEFORE + 4 : n)) >"$HUGEPAGES_KERNEL"
}
if hugepages_take 5; then
    echo "5 pages were taken of 4"
    exit 1
fi
has "after a refusal" "$BEFORE"
for record in "$HUGEPAGES_RECORDS"/*.pages; do
    [ ! -e "$record" ] || { echo "$record is left"; exit 1; }
done
