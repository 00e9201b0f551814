#!/usr/bin/env bash
# The emulated machines' kernel is fetched by the name that apt's lists have for it, also where these are older than what the mirror keeps.
# apt and what unpacks are stand-ins here: there is a mirror with one kernel, and there are lists, which may be as new, old or absent.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export MACHINE=$dir/machine
mkdir "$dir/tools"

tool() { # NAME: its commands are the standard input
    { echo '#!/bin/sh'; cat; } >"$dir/tools/$1"
    chmod +x "$dir/tools/$1"
}
tool apt-cache <<'END'
[ -e "$MACHINE/lists" ] || { echo "E: No packages found" >&2; exit 100; }
printf 'linux-image-amd64\n  Depends: linux-image-%s\n' "$(cat "$MACHINE/lists")"
END
tool apt-get <<'END'
for word; do last=$word; done
case " $* " in
*" update "*)
    echo update >>"$MACHINE/done"
    [ ! -e "$MACHINE/unreachable" ] || { echo "E: no mirror" >&2; exit 100; }
    cp "$MACHINE/mirror" "$MACHINE/lists"
    ;;
*" download linux-image-"*)
    echo "$last" >>"$MACHINE/done"
    [ ! -e "$MACHINE/unreachable" ] && [ "$last" = "linux-image-$(cat "$MACHINE/mirror")" ] || { echo "E: 404  Not Found" >&2; exit 100; }
    touch "${last}_1_amd64.deb"
    ;;
*) echo "apt-get $*: not expected" >&2; exit 2 ;;
esac
END
tool dpkg-deb <<<'echo unpacked >there'
tool depmod <<<:
PATH=$dir/tools:$PATH

status=0
wrong() { # CASE WHAT
    printf '%s: %s\n' "$1" "$2"
    status=1
}

machine() { # KERNEL IN ITS LISTS, "" WITHOUT
    rm -rf "$MACHINE"
    mkdir "$MACHINE"
    : >"$MACHINE/done"
    echo 6.1.0-2-amd64 >"$MACHINE/mirror"
    [ -z "$1" ] || echo "$1" >"$MACHINE/lists"
}

# As tests/drivers/run has it.
fetch() {
    # shellcheck disable=SC2016 # for the inner shell
    NET_BUILD=$MACHINE/build NET_DIR=$MACHINE NET_NAME=drivers bash -euo pipefail -c '. "$0"; guest_kernel; cat "$GUEST_KERNEL/there"; echo "$GUEST_RELEASE"' \
        "$root/tests/drivers/guest.sh" 2>&1 </dev/null
}

fetched() { # CASE WHAT APT DID...
    local said did
    said=$(fetch) || wrong "$1" "exit status $?"
    [ "$said" = $'unpacked\n6.1.0-2-amd64' ] || wrong "$1" "said $said"
    did=$(paste -sd' ' "$MACHINE/done")
    [ "$did" = "${*:2}" ] || wrong "$1" "apt did $did"
}

machine 6.1.0-2-amd64
fetched "new lists" linux-image-6.1.0-2-amd64
fetched "the same again" linux-image-6.1.0-2-amd64
machine 6.1.0-1-amd64
fetched "old lists" linux-image-6.1.0-1-amd64 update linux-image-6.1.0-2-amd64
machine ""
fetched "no lists" update linux-image-6.1.0-2-amd64

machine 6.1.0-1-amd64
touch "$MACHINE/unreachable"
! said=$(fetch) || wrong "no mirror" "exit status 0"
[[ $said == *"can this machine reach a package mirror?"* && $said == *"404  Not Found"* ]] || wrong "no mirror" "said $said"
exit "$status"
