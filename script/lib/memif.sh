# shellcheck shell=bash
# A switch and swagg-source on one machine, between memifs: for the benchmark of the data path and its test. On top of
# script/lib/netns.sh. The processes run in the namespace of the switch, so that they end with it.

MEMIF_SOURCE=$NET_BUILD/traffic/swagg-source

# The array cpus: those that this process may use, in their order; two at least.
memif_cpus() {
    mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
    [ "${#cpus[@]}" -ge 2 ] || net_die "needs two CPUs, one for the source and one for what it measures"
}

memif_is_jumbo() { # FRAME
    [ "$1" -gt 1518 ]
}

# The device string of port I. The source is the client. A place in a ring is as large as a buffer of swagg's: then the driver
# copies frames in its fast way.
memif_device() { # I FRAME server|client
    local bytes=2048
    ! memif_is_jumbo "$2" || bytes=10240
    echo "net_memif$1,role=$3,socket=$NET_DIR/$1.sock,socket-abstract=no,rsize=10,bsize=$bytes"
}

# Writes swagg's configuration: ports p0, p1, ... for frames of at most so many bytes. The other arguments are further
# settings, a line each. MEMIF_IMPAIR: the impairments of every port, as YAML.
memif_config() { # FILE PORTS FRAME [YAML...]
    local file=$1 ports=$2 frame=$3 i
    shift 3
    {
        printf 'switch: {mac: "%s", ip: %s}\nports:\n' "$NET_SWITCH_MAC" "$(net_switch_ip)"
        for ((i = 0; i < ports; i++)); do
            printf '  - {name: p%d, device: "%s"%s}\n' "$i" "$(memif_device "$i" "$frame" server)" \
                "${MEMIF_IMPAIR:+, impair: $MEMIF_IMPAIR}"
        done
        ! memif_is_jumbo "$frame" || echo 'mtu: 9000'
        printf '%s\n' "$@"
    } >"$file"
}

# The source against the ports' servers takes this process's place. MEMIF_EAL: an array, the EAL's other options. MEMIF_CLIENT:
# further arguments of the devices.
memif_source() { # PORTS FRAME OPTION...
    local ports=$1 frame=$2 i vdevs=()
    shift 2
    for ((i = 0; i < ports; i++)); do
        vdevs+=("--vdev=$(memif_device "$i" "$frame" client)${MEMIF_CLIENT:-}")
    done
    net_become "$NET_ID-sw" "$MEMIF_SOURCE" "${MEMIF_EAL[@]}" --no-pci --no-telemetry --log-level=error \
        --file-prefix="$NET_ID-source" "${vdevs[@]}" -- --frame "$frame" "$@"
}

# The same, up to the report, which goes to source.log in $NET_DIR. The source stays until the servers have stopped, since they
# may crash if it leaves first; then memif_source_end has its exit status.
memif_source_start() { # PORTS FRAME OPTION...
    local line
    exec {MEMIF_WORDS}< <(memif_source "$@" --stay 2>&1)
    MEMIF_PID=$!
    : >"$NET_DIR/source.log"
    while read -r line <&"$MEMIF_WORDS"; do
        printf '%s\n' "$line" >>"$NET_DIR/source.log"
        [[ $line != idle* ]] || break # the report's last line
    done
}

memif_source_end() {
    net_until 60 "the source has ended" net_gone "$MEMIF_PID"
    cat <&"$MEMIF_WORDS" >>"$NET_DIR/source.log"
    exec {MEMIF_WORDS}<&-
    wait "$MEMIF_PID"
}
