#!/usr/bin/env bash
# script/soak's exit status and last words, where no switch starts: tools that would install, build or make namespaces do nothing here,
# and say that all is well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

tool() { # NAME COMMAND
    printf '#!/bin/sh\n%s\n' "$2" >"$tools/$1"
    chmod +x "$tools/$1"
}
for name in apt-get meson ninja nsenter tc; do
    tool "$name" :
done
tool ip 'case $* in *-batch*) cat >/dev/null ;; esac' # who writes to it is not to find it gone
tool id 'echo 0'
# shellcheck disable=SC2016 # for the tool's shell
tool dpkg-query 'shift 3; printf "ii %s\n" "$@"'

status=0
fails_with() { # SEED [AS IT IS SAID]
    local rc=0 said words
    said=$(PATH=$tools:$PATH timeout 300 script/soak 1 "$1" 2>&1 </dev/null) || rc=$?
    for words in "soak: 1 minutes, seed ${2:-$1}" 'errors_without_cause  *0' 'soak: swagg does not start'; do
        grep -q "$words\$" <<<"$said" || rc="$rc, and it does not say \"$words\""
    done
    if [ "$rc" != 1 ]; then
        printf 'soak 1 %s without a switch: exit status %s: %s\n' "$1" "$rc" "$said"
        status=1
    fi
}
fails_with 7
fails_with 08 8
exit "$status"
