#!/usr/bin/env bash
# What pages say of options, commands, settings and views is what the programs' own tables print: pages.sh [--write] BUILD_DIRECTORY. --write puts it there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
write=false
[ "$1" != --write ] || { write=true && shift; }
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

# PAGE FROM TO COMMAND...: behind the line FROM, up to one that begins with TO, the page has what the command prints.
part() {
    local page=$root/$1 from=$2 to=$3
    shift 3
    "$@" >"$folder/part"
    awk -v from="$from" -v to="$to" -v part="$folder/part" '
        inside && index($0, to) == 1 { inside = 0 }
        !inside { print }
        $0 == from { inside = found = 1; while ((getline line <part) > 0) print line }
        END { exit !found }' "$page" >"$folder/page"
    if cmp -s "$folder/page" "$page"; then return; fi
    if $write; then cp "$folder/page" "$page" && return; fi
    echo "${page#"$root/"} is not what its program prints: tests/pages.sh --write $build"
    diff "$page" "$folder/page" || status=1
}

# The commands of its --help, as a manual page has them.
# shellcheck disable=SC2317 # part calls it
commands() {
    "$build/swaggctl/swaggctl" --help | sed -nE '/^commands:/,/^$/s/^  ([^ ]+( [^ ]+)*)  +(.*)$/.TP\n.B \1\n\u\3./p' | sed 's/-/\\-/g'
}

# What the doctor looks at, likewise.
# shellcheck disable=SC2317 # part calls it
topics() {
    "$build/doctor/swagg-doctor" --help | sed -nE '/^topics:/,/^$/s/^  ([a-z]+) +(.*)$/.TP\n.B \1\n\u\2./p' | sed 's/-/\\-/g'
}

part swagg/swagg.8 '.SH OPTIONS' .SH "$build/swagg/swagg" --help=man
part server/swagg-ps.8 '.SH OPTIONS' .SH "$build/server/swagg-ps" --help=man
part doctor/swagg-doctor.8 '.SH OPTIONS' .SH "$build/doctor/swagg-doctor" --help=man
part doctor/swagg-doctor.8 '.SH TOPICS' .SH topics
part swaggctl/swaggctl.1 '.SH OPTIONS' .SH "$build/swaggctl/swaggctl" --help=man
part swaggctl/swaggctl.1 '.SH COMMANDS' .SH commands
part docs/views.md '# What there is to see' '# ' "$build/swagg/swagg" --views

# Tables of the configuration, each behind a line that names it.
"$build/swagg/swagg" --settings >"$folder/settings"
# shellcheck disable=SC2317 # part calls it
table() { awk -v title="### $1" '/^###/ { inside = $0 == title } inside && /^\|/' "$folder/settings"; }
while read -r title; do
    part docs/configuration.md "<!-- swagg --settings: $title -->" '<!-- end -->' table "$title"
done < <(sed -n 's/^### //p' "$folder/settings")

# What the controller of published clients may be told is what these lists have, but for what its workers say.
keys() { # LIST
    table "$(sed -n "s/^### \(\`$1\`.*\)/\1/p" "$folder/settings")" |
        awk 'NR > 2 { print substr($2, 2, length($2) - 2) }' | grep -Evx '(name|workers.*|(packet_|message_)?elements)' | paste -sd , | sed 's/,/, /g'
}
controller=$build/session/swagg-switchml-session
{ "$controller" no_such_key=1 2>&1 || "$controller" --help; } >"$folder/controller"
grep -q "There are: $(keys static)\$" "$folder/controller" || { echo "$controller does not take the settings of static: $(keys static)" && status=1; }
grep -q "RDMA: $(keys roce)\.\$" "$folder/controller" || { echo "$controller does not take the settings of roce: $(keys roce)" && status=1; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
part docs/libswagg.md '<!-- swagg-perf --options -->' '<!--' "$build/bench/swagg-perf" --options
part docs/mpi.md '<!-- mpi-perf --settings -->' '<!--' "$build/bench/mpi-perf" --settings
exit "$status"
