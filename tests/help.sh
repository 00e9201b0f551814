#!/usr/bin/env bash
# Every script says what it is for when asked with --help, and does nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

# What a script does first when it is not asked: these would tell.
for tool in apt-get dpkg-query meson ninja ip mpirun mktemp id git; do
    # shellcheck disable=SC2016 # for the tool's shell
    printf '#!/bin/sh\necho "$0 $*" >>"%s/called"\nexit 1\n' "$tools" >"$tools/$tool"
    chmod +x "$tools/$tool"
done

status=0
wrong() { # SCRIPT WHAT
    printf '%s: %s\n' "$1" "$2"
    status=1
}

seen=0
for script in script/* .ci/run tests/*/run tests/net/*.sh pktgen-profiles/run bench/*.sh; do
    if [ ! -f "$script" ] || [ ! -x "$script" ]; then # folders, and what scripts share
        continue
    fi
    seen=$((seen + 1))
    said=$(PATH=$tools:$PATH timeout 300 "$script" --help 2>"$tools/errors" </dev/null) || wrong "$script" "exit status $?"
    [ -n "$said" ] || wrong "$script" "says nothing"
    [ ! -s "$tools/errors" ] || wrong "$script" "complains: $(cat "$tools/errors")"
    [ ! -e "$tools/called" ] || wrong "$script" "called $(cat "$tools/called")"
    rm -f "$tools/called"
done
# Where LD_PRELOAD would be divided, what makes hosts says so.
mkdir -p "$tools/a path/script"
cp -r script/lib "$tools/a path/script"
# shellcheck disable=SC2016 # for the shell inside
said=$(bash -c '. "$0"' "$tools/a path/script/lib/netns.sh" 2>&1 </dev/null) && wrong netns.sh "takes a path with a space"
[[ $said == *"has a space or a colon"* ]] || wrong netns.sh "$said"
# A wrong name is told before anything is installed or built, and so is a file that could not be written when all is measured.
for command in "script/test nothing" "script/test net/nothing" "script/test unit/nothing" "script/bench nothing" \
    "script/bench atp --part nothing" "script/bench allreduce --part auth" "script/bench core --json $tools/none/figures.json" \
    "script/bench core --json $tools"; do
    rc=0
    # shellcheck disable=SC2086 # a script and its argument
    said=$(PATH=$tools:$PATH timeout 300 $command 2>&1 </dev/null) || rc=$?
    [[ $rc -eq 2 && $said == *'no '*"\"${command##* }\""* ]] || wrong "$command" "status $rc: $said"
    [ ! -e "$tools/called" ] || wrong "$command" "called $(cat "$tools/called")"
    rm -f "$tools/called"
done
# An option at the end lacks its value.
rc=0
said=$(pktgen-profiles/run --pktgen 2>&1 </dev/null) || rc=$?
[[ $rc -eq 2 && $said == *'--pktgen FILE'* ]] || wrong "pktgen-profiles/run --pktgen" "status $rc: $said"
[ "$seen" -gt 20 ] || wrong "$0" "found only $seen scripts"
exit "$status"
