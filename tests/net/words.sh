#!/usr/bin/env bash
# However a network test fails, it says in which step and what ended it: also where words go nowhere.
set -euo pipefail

finds_nothing() {
    local found
    found=$(grep nothing /dev/null)
    echo "$found"
}

ends_all() {
    exit 1
}

asks_for_too_much() {
    # shellcheck disable=SC2154 # nobody has assigned it
    echo "$unknown"
}

# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [ $# -gt 0 ]; then
    net_begin words-of-one
    step "the step"
    "$@"
    exit
fi

net_begin words
expect_words() { # WORDS COMMAND...
    step "${*:2}"
    expect_end 1 "failed in step: the step: $1" "${BASH_SOURCE[0]}" "${@:2}"
}
expect_words 'this ended it: words.sh, line [0-9]*: found=\$\(grep nothing /dev/null\)' finds_nothing
expect_words 'this ended it: exit 1' net_until 1 something ends_all
expect_words 'this ended it: echo ".unknown"' net_until 1 something asks_for_too_much
expect_words 'x is .1., expected .2.' expect_equal x 1 2
