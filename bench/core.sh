#!/usr/bin/env bash
# script/bench core        nanoseconds and instructions a packet in the core, beside memcpy and a bare loop
# Takes 0 minutes a run and 4 once; a look takes 2.
#
# Measures: core.sh RUNS DIRECTORY [quick]. bench-core takes its own medians; RUNS is not for it. Leaves DIRECTORY/core.txt and
# core.json, and DIRECTORY/FUNCTION.N, callgrind's counts, a file a row of the table.
set -euo pipefail
# shellcheck source=script/lib/help.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/help.sh"
core=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/bench/bench-core
records=$2
"$core" --json "$records/core.json" | tee "$records/core.txt"
[ -z "${3:-}" ] || exit 0 # a look needs no counts of instructions
count() { # OPTION FUNCTION...
    local option=$1 function
    for function in "${@:2}"; do
        valgrind --tool=callgrind --toggle-collect="$function" --callgrind-out-file="$records/$function" "$core" "$option" \
            >"$records/valgrind.log" 2>&1 || { cat "$records/valgrind.log" >&2; exit 1; }
    done
}
count --instructions sml_pool_locate sml_pool_apply time_memcpy time_loop
count --checksum-instructions time_checksum
