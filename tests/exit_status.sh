#!/usr/bin/env bash
# What programs tell by their exit status is alike, as docs/configuration.md has it. Called with all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
declare -A program
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # mpi-perf

expect() { # STATUS PROGRAM ARGUMENT...
    local want=$1 rc=0
    shift
    timeout 300 "${program[$1]}" "${@:2}" >"$folder/out" 2>"$folder/err" </dev/null || rc=$?
    if [ "$rc" -ne "$want" ]; then
        printf '%s: exit status %d, not %d: %s\n' "$*" "$rc" "$want" "$(cat "$folder/err")"
        status=1
    fi
}
says() { # FILE WHAT: of the last one
    if [ ! -s "$folder/$1" ]; then
        printf '%s: nothing on std%s\n' "$2" "$1"
        status=1
    fi
}
told() { # FILE REGEX: of the last one, too
    if ! grep -Eq -e "$2" "$folder/$1"; then
        printf 'no "%s" on std%s: %s\n' "$2" "$1" "$(cat "$folder/$1")"
        status=1
    fi
}

loses_its_output() { # PROGRAM WHY, with standard output as it then is
    local rc=0
    "${program[$1]}" --version 2>"$folder/err" || rc=$?
    if [ "$rc" -ne 1 ] || ! grep -q "^$1: cannot write standard output: $2" "$folder/err"; then
        printf '%s, whose output is lost (%s): exit status %d: %s\n' "$1" "$2" "$rc" "$(cat "$folder/err")" >&2
        status=1
    fi
}

for path in "$@"; do
    name=$(basename "$path")
    program[$name]=$path
    asks=(--help -h --version)
    [[ $name != train-* ]] || asks=(--help -h) # plain MPI programs, of no version of swagg
    for ask in "${asks[@]}"; do
        expect 0 "$name" "$ask"
        says out "$name $ask"
        if [[ $ask == --version ]] && ! grep -Eq "^$name [0-9]+\.[0-9]+\.[0-9]+(\+[^.]*)?\$" "$folder/out"; then
            printf '%s --version: "%s" has more than one number\n' "$name" "$(cat "$folder/out")"
            status=1
        fi
        if [[ $ask == --help && $name != train-* ]] && ! grep -q -e --version "$folder/out"; then
            printf '%s --help says nothing of --version\n' "$name"
            status=1
        fi
    done
    expect 2 "$name" --no-such-option
    says err "$name --no-such-option"
    [[ $name != train-* ]] || continue
    loses_its_output "$name" 'No space left on device' >/dev/full
    loses_its_output "$name" 'Bad file descriptor' >&-
done
expect 2 swagg four.yaml --file-prefix=four
says err "an EAL argument without --"
told err 'stands behind "--"'
[ "${#program[@]}" -eq 17 ] || { echo "${#program[@]} programs, not 17" && status=1; }

# Configurations, whether they are only checked or not; the files with keys that they name are a part of them.
cat >"$folder/switch.yaml" <<'end'
ports: [{device: kernel:none0}, {device: kernel:none1}]
no_such_key: 1
end
cat >"$folder/switch_keys.yaml" <<'end'
ports: [{device: kernel:none0}, {device: kernel:none1}]
switch: {ip: 10.77.0.254/24}
tenants: [{name: lab, key_file: /nonexistent/key}]
end
cat >"$folder/server.yaml" <<'end'
server: {ip: 10.77.0.300}
end
cat >"$folder/server_keys.yaml" <<'end'
server: {ip: 127.0.0.1}
tenants: [{name: lab, key_file: /nonexistent/key}]
end

# So are what they ask of this machine: memory, the operators' group, a folder.
beyond=$(($(getconf _PHYS_PAGES) * $(getconf PAGESIZE) / 1048576 + 1))
cat >"$folder/switch_beyond.yaml" <<end
ports: [{device: kernel:none0}, {device: kernel:none1}]
memory: {megabytes: $beyond}
control: {group: no-such-group}
state: /dev/null
end
cat >"$folder/server_beyond.yaml" <<end
server: {ip: 127.0.0.1}
pool: {megabytes: $beyond}
control: {group: no-such-group}
end
for check in --check ''; do
    expect 2 swagg ${check:+"$check"} "$folder/switch_beyond.yaml"
    told err "memory.megabytes: $beyond is more than this machine's memory"
    told err 'control.group: there is no group no-such-group on this machine'
    told err 'state: /dev/null is no folder: name one'
    expect 2 swagg-ps ${check:+"$check"} "$folder/server_beyond.yaml"
    told err "pool.megabytes: $beyond is more than this machine's memory"
    told err 'control.group: there is no group no-such-group on this machine'
done

# And CPUs, hugepages, and room for packet buffers.
huge=0
for pages in /sys/kernel/mm/hugepages/hugepages-*kB; do
    [ ! -r "$pages/nr_hugepages" ] || { size=${pages##*-} && huge=$((huge + $(cat "$pages/nr_hugepages") * ${size%kB} / 1024)); }
done
small() { # MEGABYTES
    echo "ports: [{device: net_null0}, {device: net_null1}]"
    echo "pool: {megabytes: 1, kept_frames: 1000}"
    echo "memory: {mode: no-huge, megabytes: $1}"
    echo "control: {path: none}"
}
cat >"$folder/machine.yaml" <<end
ports: [{device: net_null0}, {device: net_null1}]
memory: {mode: hugepages, megabytes: $((huge + 100))}
lcores: [{cpu: 1023, rx: [all], tx: [all], aggregate: [0]}]
end
for check in --check ''; do
    expect 2 swagg ${check:+"$check"} "$folder/machine.yaml"
    told err "hugepages, but of $((huge + 100)) MB this machine has only $huge MB"
    told err 'lcores\[0\].cpu: 1023 is none of the'
    small 20 >"$folder/small.yaml"
    expect 2 swagg ${check:+"$check"} "$folder/small.yaml"
    needs=$(sed -n 's/.*memory.megabytes: 20 is too little .* make it //p' "$folder/err")
    small "$((needs - 1))" >"$folder/small.yaml"
    expect 2 swagg ${check:+"$check"} "$folder/small.yaml"
done

# With so much it starts, and stops when it is told to.
small "$needs" >"$folder/small.yaml"
expect 0 swagg --check "$folder/small.yaml"
told out 'devices of the ports .* was not checked'
printf 'switch: {ip: 10.0.0.1}\nports: [{device: net_null0}]\n' >"$folder/room.yaml"
expect 0 swagg --check "$folder/room.yaml" # swaggctl reserved says the same of such a job
told out 'with 1024 slots a job of 8 ranks takes [0-9.]+ MB of pool.megabytes \(64\), one of 64 ranks'
XDG_RUNTIME_DIR=$folder expect 0 swagg --probe "$folder/small.yaml" -- --file-prefix="small$$"
told out '^\| port1 \| net_null1 \| net_null \| - \| up'
told out '^\| 1 \| [0-9]+ \| [0-9]+ \| port0'
XDG_RUNTIME_DIR=$folder "${program[swagg]}" "$folder/small.yaml" -- --file-prefix="small$$" 2>"$folder/small.log" &
pid=$!
while ! grep -q ready "$folder/small.log" && kill -0 "$pid"; do sleep 0.1; done
kill -TERM "$pid" || true
wait "$pid" || { cat "$folder/small.log" && status=1; }

# A folder for its state may come later: --check says that it has not looked whether swagg may write there, a start says what it needs.
{ small "$needs" && echo "state: $folder/no/folder"; } >"$folder/state.yaml"
expect 0 swagg --check "$folder/state.yaml"
told out 'swagg may write to state, was not checked'
XDG_RUNTIME_DIR=$folder expect 1 swagg "$folder/state.yaml" -- --file-prefix="small$$"
told err 'cannot keep .*/no/folder/tickets.secret: .*: it needs a folder that is there'

# What a process may have is too little: it says so, and what to raise, whoever notices first.
small 320 >"$folder/large.yaml"
for limit in "n 8" "n 12" "n 15" "v 300000"; do
    (ulimit "-${limit% *}" "${limit#* }" && export XDG_RUNTIME_DIR=$folder &&
        expect 1 swagg "$folder/large.yaml" -- --file-prefix="small$$" &&
        grep -q "error: .*ulimit -${limit% *}" "$folder/err" && exit "$status") || { cat "$folder/err" && status=1; }
done

# What the EAL is told to do is a part of the command line.
expect 2 swagg "$folder/small.yaml" -- --no-such-option

for check in --check ''; do
    for file in "$folder/switch.yaml" "$folder/switch_keys.yaml" /nonexistent; do
        expect 2 swagg ${check:+"$check"} "$file"
        says err "swagg $check $file"
        expect 2 swagg-tofino ${check:+"$check"} --state "$folder/state" "$file" -- true
        says err "swagg-tofino $check $file"
    done
    for file in "$folder/server.yaml" "$folder/server_keys.yaml" /nonexistent; do
        expect 2 swagg-ps ${check:+"$check"} "$file"
        says err "swagg-ps $check $file"
    done
done
expect 2 swagg
told err 'which configuration\? .*swagg --help tells how it is used'
expect 2 swagg-ps --chekc "$folder/server.yaml"
told err 'did you mean --check\? swagg-ps --help tells how it is used'
expect 2 swagg-tofino --elements 33 --check "$folder/switch.yaml"
expect 2 swagg-tofino --elements 32x --check "$folder/switch.yaml"
expect 2 swagg-tofino --helper-timeout 10s --check "$folder/switch.yaml"
expect 2 swagg-perf --rank 2 --size 2
expect 2 swagg-perf --size 0
told err '--size: "0" is not a number from 1'
expect 2 swagg-perf --switch 127.0.0.1 --job none --rank 0 --size 1 --transport pigeon
expect 2 swagg-replay vgg19.profile --rank 0
expect 2 swagg-replay "$(dirname "${BASH_SOURCE[0]}")/../replay/profiles/vgg19.profile" --switch 127.0.0.1 --job none --rank 2 --size 2
expect 2 swagg-replay
told err '^swagg-replay: which profile\? '
expect 2 swagg-pcap shwo
told err 'there is no command shwo'
expect 2 swagg-source --no-huge --no-pci -l 0 -- --workers none
expect 2 swagg-sim tat --loss 51
expect 2 swagg-sim replay --slots 3 vgg19.profile
expect 2 swagg-sim run --seeds many
expect 2 swagg-pcap gen --workers none
expect 2 swagg-pcap gen --split --out -
told err '-o FILE, not -'
# On standard output a capture is alone.
expect 0 swagg-pcap gen --workers 1 --slots 2 --phases 2 --out -
told err '^-: 4 chunks of 256 elements from each of 1 workers, 4 frames$'
mv "$folder/out" "$folder/standard.pcap"
expect 0 swagg-pcap show "$folder/standard.pcap"
[ "$(wc -l <"$folder/out")" -eq 4 ] || { cat "$folder/out" && status=1; }
expect 2 swagg-thc-table --bits 9
for tool in "swagg-hostagg-worker --host 127.0.0.1:5000" "swagg-hostagg-host --switch 127.0.0.1"; do
    # shellcheck disable=SC2086 # a program and its arguments
    expect 2 $tool --ask-after 0 --timeout 1
    told err '--ask-after: "0" is less than 1 ms'
done
expect 2 swagg-hostagg-worker --host nowhere
expect 2 swagg-hostagg-host --switch 10.0.0.300
expect 2 swaggctl jobz
expect 2 swaggctl --times 0.5 watch drops
expect 2 swaggctl --snap 100x --write /dev/null capture
expect 2 swaggctl --port h1 drops
told err '--port is for capture'
expect 2 swaggctl --write /dev/null jobs
expect 2 train-digits
expect 2 train-text --steps 1

# What fails, or is not there.
cat >"$folder/elsewhere.yaml" <<'end'
server: {ip: 192.0.2.1}
control: {path: none}
end
expect 1 swagg-ps "$folder/elsewhere.yaml"
expect 1 swagg-pcap show /nonexistent
expect 1 swagg-pcap gen --workers 1 --out /dev/full
told err 'cannot write /dev/full: No space left on device'
expect 1 mpi-perf -b 8 -e 8 -n 1 --json /dev/full
told err 'cannot write /dev/full: No space left on device'
expect 1 swagg-sim atp --curves --small --json /nonexistent/file
expect 1 swagg-sim tat --json /nonexistent/file
expect 1 swagg-sim replay /nonexistent/file
expect 1 swagg-perf --switch 127.0.0.1 --job none --rank 0 --size 1 --json /nonexistent/file
expect 1 swagg-replay /nonexistent/file --switch 127.0.0.1 --job none --rank 0 --size 1
expect 3 swagg-switchml-session --switch=/nonexistent
expect 3 swaggctl --switch /nonexistent status
expect 3 swaggctl --switch "$folder/server.yaml" status
told err 'server.yaml is no socket'
exit "$status"
