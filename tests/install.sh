#!/usr/bin/env bash
# What `meson install` leaves behind is whole: install.sh BUILD_DIRECTORY. Programs run from where they are, a program
# builds against the library, manual pages have every option, units for systemd name what is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
unset LD_LIBRARY_PATH # meson's, by which a program that lacks its library would find it in the build
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

wrong() { # WHAT
    printf '%s\n' "$*"
    status=1
}

meson install -C "$build" --no-rebuild --destdir "$scratch" >"$scratch/log" 2>&1 || wrong "$(cat "$scratch/log")"
prefix=$scratch$(meson introspect "$build" --buildoptions | python3 -c 'import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')

seen=0
for program in "$prefix"/bin/*; do
    seen=$((seen + 1))
    [ "${program##*/}" != swagg-mpirun ] || continue # it has mpirun's options
    "$program" --help >"$scratch/help" 2>&1 </dev/null || wrong "${program##*/} --help: $(cat "$scratch/help")"
    for page in "$prefix"/share/man/man?/"${program##*/}".?; do
        [ -e "$page" ] || continue
        text=$'\n'$(<"$page")$'\n'
        while read -r option; do
            [[ $text == *"${option//-/\\-}"* ]] || wrong "${page##*/} lacks $option" # a minus is "\-" there
        done < <(grep -Eo -- '--[a-z][a-z-]+' "$scratch/help" | sort -u)
        while read -r command; do
            [[ $text =~ $'\n'"."(SS|B)" $command"[[:space:]] ]] || wrong "${page##*/} lacks the command $command"
        done < <(sed -nE '/^commands/,/^$/s/^  ([a-z]+) .*/\1/p' "$scratch/help" | sort -u)
    done
done
[ "$seen" -gt 10 ] || wrong "only $seen programs are installed"
for program in "$prefix"/bin/*; do
    grep -q "^| .*\`${program##*/}\`.* | \`PREFIX/bin\` |" docs/first-steps.md || wrong "docs/first-steps.md lists what is in PREFIX/bin without ${program##*/}"
done
# Every program has a page; so have the configuration, the library and each of its functions, and the shim. None has a fault.
pages=(swagg.yaml.5 libswagg.3 swagg-mpi.7)
for program in "$prefix"/bin/*; do
    pages+=("${program##*/}.[18]")
done
while read -r function; do
    pages+=("$function.3")
done < <(nm -D --defined-only "$build/lib/client/libswagg.so" | sed -n 's/.* T \(.*\)@@.*/\1/p')
[ "${#pages[@]}" -gt 25 ] || wrong "pages are looked for of hardly any function"
for page in "${pages[@]}"; do
    # shellcheck disable=SC2206 # the page of a program is in one of two sections
    files=("$prefix"/share/man/man?/$page)
    [ -e "${files[0]}" ] || wrong "there is no manual page $page"
done
# As man sets them, with what it warns of; all at once, and one with many names once.
mapfile -t files < <(realpath "$prefix"/share/man/man?/* | sort -u)
said=$(groff -Kutf8 -t -mandoc -wmac -Tutf8 -Z "${files[@]}" 2>&1 >/dev/null) || wrong "the manual pages cannot be set: $said"
[ -z "$said" ] || wrong "the manual pages: $said"
grep -q '^\.TP$' "$prefix/share/man/man5/swagg.yaml.5" || wrong "swagg.yaml.5 has no settings"

# Completion has all options of each program, and of its commands.
complete_words() { # WORD...: COMPREPLY is what may stand for the last one
    local program=$1
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    PATH=$prefix/bin:$PATH "$(complete -p "$program" | sed -n 's/.*-F \([^ ]*\).*/\1/p')"
}
completes() { # WHAT...: it has all of this
    local what
    for what in "$@"; do
        [[ " ${COMPREPLY[*]} " == *" $what "* ]] || wrong "completion of ${COMP_WORDS[*]}: no $what"
    done
}
for program in "$prefix"/bin/*; do
    name=${program##*/}
    [ "$name" != swagg-mpirun ] || continue
    # shellcheck disable=SC1090 # one after the other
    . "$prefix/share/bash-completion/completions/$name"
    complete_words "$name" --
    mapfile -t options < <("$program" --help | sed -nE 's/^  (-., |    )(--[a-z][a-z_-]+).*/\2/p')
    completes "${options[@]}"
done
complete_words swagg-pcap g
completes gen
complete_words swagg-pcap gen --o
completes --out

# Documentation has what pages name: the digits with their licence, the licence, the first configurations. And the helper starts.
for file in README.md LICENSE docs/first-steps.md conf/etc/switch.yaml mpi-shim/examples/data/README.md python/examples/train.py; do
    [ -e "$prefix/share/doc/swagg/$file" ] || wrong "share/doc/swagg lacks $file"
done
"$prefix/share/swagg/p4/helper.py" --help >/dev/null || wrong "the helper of swagg-tofino does not start"

# The library's symbols are those that its package declares.
declared=$(sed -n 's/^ \(swagg_[a-z0-9_]*\)@SWAGG_0 .*/\1/p' debian/libswagg0.symbols)
there=$(nm -D --defined-only "$build/lib/client/libswagg.so" | sed -n 's/.* T \(.*\)@@SWAGG_0/\1/p')
diff <(printf '%s\n' "$declared") <(sort <<<"$there") || wrong "debian/libswagg0.symbols (<) are not libswagg's symbols (>)"

pc=$(dirname "$(find "$prefix" -name libswagg.pc)")
read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --define-variable=prefix="$prefix" --cflags --libs libswagg)"
cc docs/examples/allreduce.c "${flags[@]}" -o "$scratch/allreduce" || wrong "the example does not build"
said=$(LD_LIBRARY_PATH=${pc%/pkgconfig} "$scratch/allreduce" 2>&1 || true)
[[ $said == usage:* ]] || wrong "the example says: $said"

# The header is for C and C++, whatever their users are warned of.
cat >"$scratch/header.c" <<'end'
#include <swagg.h>
int main(void)
{
    struct swagg_options options = SWAGG_OPTIONS_DEFAULT;
    struct swagg_stats stats = SWAGG_STATS_INIT;
    struct swagg_turnout turnout = SWAGG_TURNOUT_INIT;
    return options.struct_size == sizeof(options) && options.switch_ip == NULL && stats.struct_size == sizeof(stats) &&
                   turnout.struct_size == sizeof(turnout) ? 0 : 1;
}
end
for compile in "cc -std=c99" "c++ -x c++ -std=c++11" "c++ -x c++ -std=c++20"; do
    if ! { $compile -Wall -Wextra -pedantic-errors -Werror -I"$prefix/include" "$scratch/header.c" -o "$scratch/header" &&
        "$scratch/header"; }; then
        wrong "swagg.h is not for $compile"
    fi
done

# The header for SwitchML's published library builds with this DPDK, and tells the library, which asks whether a packet has come by
# comparing with 1, so of every one. Of glog it needs one function.
mkdir "$scratch/glog"
echo 'namespace google { inline bool IsGoogleLoggingInitialized() { return true; } }' >"$scratch/glog/logging.h"
cat >"$scratch/published.cc" <<'end'
#include <rte_bitmap.h>
int main()
{
    enum { PACKETS = 656 };
    alignas(64) static uint8_t memory[4096];
    rte_bitmap *came = rte_bitmap_init(PACKETS, memory, sizeof memory);
    for (uint32_t i = 0; i < PACKETS; i++) {
        if (rte_bitmap_get(came, i) != 0)
            return 1;
        rte_bitmap_set(came, i);
        if (!(rte_bitmap_get(came, i) == 1))
            return 2;
    }
    return 0;
}
end
read -ra flags <<<"$(pkg-config --cflags --libs libdpdk)"
if ! { c++ -std=c++17 -w -I"$scratch" -include docs/examples/switchml-on-dpdk-22.h "$scratch/published.cc" "${flags[@]}" \
    -o "$scratch/published" && "$scratch/published"; }; then
    wrong "switchml-on-dpdk-22.h: not for this DPDK, or a packet that has come is taken for one that has not: exit status $?"
fi

for unit in "$prefix"/lib/systemd/system/*.service; do
    while read -r program; do
        [ -x "$scratch$program" ] || [ -x "$program" ] || wrong "${unit##*/} runs $program, which is not there"
    done < <(sed -n 's/^Exec[A-Za-z]*=\([^ ]*\).*/\1/p' "$unit")
    grep -q '^StartLimitIntervalSec=0$' "$unit" || wrong "${unit##*/} gives up when an interface comes late"
    ! grep -q '^ExecStartPre' "$unit" || wrong "${unit##*/} starts again and again with a file that is not good"
done

# With no more capabilities than its unit leaves it, which is none, a server gives its socket to the group of its configuration, of which it
# is a member. At an address of its own: others use this machine's, too.
serves_a_group() {
    local pid
    grep -qx 'CapabilityBoundingSet=' "$prefix/lib/systemd/system/swagg-ps@.service" || wrong "swagg-ps@.service leaves privileges"
    grep -qx 'User=swagg' "$prefix/lib/systemd/system/swagg-ps@.service" || wrong "swagg-ps@.service runs as root"
    chmod 711 "$scratch" # mktemp's is its owner's alone
    install -d -o nobody "$scratch/ctl"
    printf 'server: {ip: 127.79.%d.%d, threads: 1}\ncontrol: {path: %s/ctl/ps.ctl, group: daemon, mode: "660"}\n' $(($$ / 250 % 250)) \
        $(($$ % 250 + 1)) "$scratch" >"$scratch/ps.yaml"
    setpriv --reuid nobody --regid nogroup --groups daemon --bounding-set=-all --no-new-privs "$prefix/bin/swagg-ps" "$scratch/ps.yaml" >"$scratch/ps.log" 2>&1 &
    pid=$!
    until grep -q ' serves at ' "$scratch/ps.log" || ! kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
    done
    [ "$(stat -c '%a %G' "$scratch/ctl/ps.ctl" 2>&1)" = "660 daemon" ] || wrong "swagg-ps@.service: the socket: $(cat "$scratch/ps.log")"
    kill "$pid" 2>/dev/null || true
    wait "$pid" || wrong "swagg-ps@.service: exit status $?: $(cat "$scratch/ps.log")"

    setpriv --reuid nobody --regid nogroup --clear-groups --bounding-set=-all --no-new-privs "$prefix/bin/swagg-ps" "$scratch/ps.yaml" >"$scratch/ps.log" 2>&1 &&
        wrong "swagg-ps serves a group without being able to"
    grep -q 'control.group: cannot give .* to group daemon: ' "$scratch/ps.log" || wrong "swagg-ps says: $(cat "$scratch/ps.log")"
}
[ "$(id -u)" -ne 0 ] || serves_a_group
exit "$status"
