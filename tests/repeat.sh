#!/usr/bin/env bash
# script/lib/repeat with tests that can tell in which mode they run, and some that fail.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/script" "$dir/tests/net"
cp -r "$root/script/lib" "$dir/script"

fake() { # NAME: the script is stdin
    { echo '#!/usr/bin/env bash' && cat; } >"$dir/tests/net/$1.sh"
    chmod +x "$dir/tests/net/$1.sh"
}

fail() {
    printf 'repeat: %s; it said:\n' "$*" >&2
    cat "$dir/said" >&2
    exit 1
}

runs() { # STATUS ARGUMENT...
    local status=0
    "$dir/script/lib/repeat" "${@:2}" >"$dir/said" 2>&1 </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "status $status, not $1"
}

says() { # REGEX [TIMES]
    local times
    times=$(grep -Ec -- "$1" "$dir/said" || true)
    [ "$times" -eq "${2:-1}" ] || fail "$times lines, not ${2:-1}, match '$1'"
}

in_order() {
    sed -nE 's/^(ok|FAILED) +([a-z/]+ [a-z]+) .*/\2/p' "$dir/said"
}

fake right </dev/null
fake wrong <<'END'
echo "what was wrong"
exit 3
END
runs 1 3 net
says '^ok +net/right ' 12
says '^FAILED +net/wrong .*\(status 3, ' 12
says '^failures / runs +quiet +busy +pinned +stopped$'
says '^net/wrong +3/3 +3/3 +3/3 +3/3$'
says '^net/right' 0
says '^all 2 tests +3/6 +3/6 +3/6 +3/6$'
says '^12 passed, 12 failed; logs: '
seed=$(sed -n 's/^seed //p' "$dir/said")
[ "$(cat "$dir/build/repeat/$seed/net-wrong.busy.3.log")" = "what was wrong" ] || fail "no log of what failed"
[ ! -e "$dir/build/repeat/$seed/net-right.busy.3.log" ] || fail "a log of what did not fail"
before=$(in_order | head -n 8) # of the first round
runs 1 1 net --seed "$seed"
[ "$(in_order)" = "$before" ] || fail "another order from the same seed"
runs 1 1 net --seed $((seed + 1))
[ "$(in_order)" != "$before" ] || fail "the same order from another seed"
runs 2 1 net/absent
says 'no test "net/absent"; there are: net/right net/wrong$'
runs 2 1 net --modes quiet,calm
says 'no mode calm'

# Each ends in the mode that it wants only.
fake pinned <<'END'
[ "$(nproc)" -eq 1 ]
END
runs 0 1 net/pinned --modes pinned
fake busy <<'END'
parent_of() { ps -o ppid= "$1" | tr -d ' '; } # ps pads ids of few digits
timeout=$PPID
run_test=$(parent_of "$timeout")
repeat=$(parent_of "$run_test")
until [ "$(ps -o args= --ppid "$repeat" | grep -c getppid)" -ge 2 ]; do :; done
END
runs 0 1 net/busy --modes busy
fake stopped <<'END'
state() { sed -nE 's/^State:\t(.).*/\1/p' "/proc/$1/status"; }
sleep 1000 &
until [ "$(state $!)" = T ]; do sleep 0.01; done
while [ "$(state $!)" = T ]; do sleep 0.01; done
kill $!
END
runs 0 1 net/stopped --modes stopped

# What a test has stopped itself stays so, also if it was stopped already.
fake stops <<'END'
state() { sed -nE 's/^State:\t(.).*/\1/p' "/proc/$1/status"; }
sleep 1000 &
until [ "$(state $!)" = T ]; do sleep 0.01; done
kill -STOP $!
for _ in {1..200}; do
    [ "$(state $!)" = T ] || exit 1
    sleep 0.01
done
kill -KILL $!
END
runs 0 1 net/stops --modes stopped

# What a test leaves behind is told, and ended.
fake leaves <<'END'
setsid sleep 1000 >/dev/null 2>&1 &
until [ "$(cat "/proc/$!/comm")" = sleep ]; do sleep 0.01; done
echo $!
END
sed -i 's/^PATIENCE_S = .*/PATIENCE_S = 0.2/' "$dir/script/lib/repeat"
runs 1 1 net/leaves --modes quiet
cat "$dir"/build/repeat/*/net-leaves.quiet.1.log >"$dir/said"
says '^repeat: left behind: [0-9]+ \(sleep\)$'
while grep -qs '^State:.[^Z]' "/proc/$(head -n1 "$dir/said")/status"; do :; done # it is ended
