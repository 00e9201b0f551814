# shellcheck shell=bash
# A machine that is emulated (QEMU without KVM, Debian's kernel), on top of tests/net/lib.sh: its RAM disk is made from the built tree
# and the libraries that this needs. Each of its NICs is at the other end of a host's eth0, or of a port p0, p1, ... of a switch outside;
# by one more it is told what to do.
#
#     guest_kernel                              # fetches and unpacks Debian's kernel, once
#     guest_disk PROGRAM... -- MODULE...        # the RAM disk
#     guest_start vfio-pci e1000                # as many NICs as NET_HOSTS, bound to that driver; with "none" they are the guest's kernel's
#     guest ip link                             # runs a command in the guest; its words, and its exit status
#     guest_stop

# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../net/lib.sh"
# shellcheck source=script/lib/apt.sh
. "$NET_LIB/apt.sh"

GUEST_FILES=$NET_BUILD/drivers # what is made once
# shellcheck disable=SC2034 # for those who make a disk
GUEST_PLUGINS=$(echo "$(pkg-config --variable=libdir libdpdk)"/dpdk/pmds-*)
GUEST_PID=
GUEST_PORT=7000 # of the shell in the guest, and on the loopback of the switch's namespace, where QEMU runs
GUEST_FIRST_SLOT=16 # of the PCI bus: host 0's NIC

# --- what it consists of -----------------------------------------------------------------------------------------

guest_kernel() {
    with_apt_lists guest_has_kernel >"$NET_DIR/apt.log" 2>&1 ||
        fail "Debian's kernel cannot be fetched; can this machine reach a package mirror? $(tail -n 20 "$NET_DIR/apt.log")"
}

# The kernel that Debian has now, as files: this machine's own is not touched.
guest_has_kernel() {
    local package
    package=$(apt-cache depends linux-image-amd64 | grep -o 'linux-image-[0-9].*') || return
    GUEST_RELEASE=${package#linux-image-}
    GUEST_KERNEL=$GUEST_FILES/$GUEST_RELEASE
    [ ! -e "$GUEST_KERNEL/done" ] || return 0
    rm -rf "$GUEST_KERNEL"
    mkdir -p "$GUEST_KERNEL" && (cd "$GUEST_KERNEL" && apt_get -o APT::Sandbox::User=root download "$package" && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb) &&
        depmod -b "$GUEST_KERNEL" "$GUEST_RELEASE" && touch "$GUEST_KERNEL/done"
}

guest_disk() { # PROGRAM... -- MODULE...
    local root=$NET_DIR/disk programs=() module
    while [ "$1" != -- ]; do
        programs+=("$1")
        shift
    done
    shift
    mkdir -p "$root"/{bin,dev,proc,sys,tmp,run,var,modules,usr/lib,usr/lib64}
    ln -s /run "$root/var/run"
    ln -s usr/lib usr/lib64 "$root"
    cp "$(command -v busybox)" "$root/bin/busybox"
    busybox --list | xargs -I{} ln -s busybox "$root/bin/{}" 2>/dev/null || true # busybox is there
    cp "${BASH_SOURCE[0]%/*}/init" "$root/init"
    guest_copy "${programs[@]}"
    for module; do
        modprobe -d "$GUEST_KERNEL" -S "$GUEST_RELEASE" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$NET_DIR/modules"
    while read -r module; do
        cp "$module" "$root/modules/"
        echo "/modules/${module##*/}"
    done <"$NET_DIR/modules" >"$root/modules.list"
    (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$NET_DIR/disk.gz"
}

# Programs go to /bin, plugins and libraries where they are here, with what they need.
guest_copy() { # FILE...
    local file library
    for file; do
        case $file in
        *.so* | /etc/*) guest_copy_as "$file" "$file" ;;
        *) guest_copy_as "$file" "/bin/${file##*/}" ;;
        esac
        { ldd "$file" 2>/dev/null || true; } | { grep -o '/[^ ]*' || true; } | while read -r library; do
            guest_copy_as "$library" "$library"
        done
    done
}

# Links stay links: a plugin that is there twice is loaded twice.
guest_copy_as() { # FILE PLACE
    local real=
    real=$(realpath "$1")
    [ "$2" != "$1" ] || set -- "$1" "$(realpath "${1%/*}")/${1##*/}"
    if [[ $2 == /bin/* || $real == "$2" ]]; then
        real=$2
    else
        mkdir -p "$NET_DIR/disk${2%/*}"
        ln -sf "$real" "$NET_DIR/disk$2"
    fi
    [ -e "$NET_DIR/disk$real" ] || install -D "$1" "$NET_DIR/disk$real"
}

# --- its life ----------------------------------------------------------------------------------------------------

guest_start() { # DRIVER NIC [NIC ARGUMENTS OF -netdev]
    local host nics=() slots=
    for ((host = 0; host < NET_HOSTS; host++)); do
        printf -v slots '%s 0000:00:%02x.0' "$slots" $((GUEST_FIRST_SLOT + host))
        nics+=(-netdev "tap,id=n$host,ifname=p$host,script=no,downscript=no${3:+,$3}"
            -device "$2,netdev=n$host,id=nic$host,mac=$(guest_mac "$host"),romfile=,addr=$(printf '0x%x' $((GUEST_FIRST_SLOT + host)))")
    done
    net_background "$NET_DIR/guest.log" ip netns exec "$NET_ID-sw" qemu-system-x86_64 -accel "tcg,thread=multi" -cpu max -smp 2 -m 1280 \
        -machine q35 -device intel-iommu,intremap=on -nodefaults -display none -no-reboot \
        -kernel "$GUEST_KERNEL/boot/vmlinuz-$GUEST_RELEASE" -initrd "$NET_DIR/disk.gz" \
        -append "console=ttyS0 panic=-1 no_timer_check nowatchdog intel_iommu=on iommu.passthrough=0 bind=$1 nics=${slots// /,}" -serial stdio \
        -monitor "unix:$NET_DIR/monitor,server,nowait" \
        -netdev "user,id=told,restrict=on,hostfwd=tcp:127.0.0.1:$GUEST_PORT-:$GUEST_PORT" -device virtio-net-pci,netdev=told,romfile= \
        "${nics[@]}"
    GUEST_PID=$!
    net_until 300 "the guest has begun" guest_begun_or_gone
    guest_cables
    net_until 300 "the guest answers" guest_answers_or_gone
    guest true
}

guest_answers_or_gone() {
    net_gone "$GUEST_PID" || guest true
}

guest_begun_or_gone() {
    net_gone "$GUEST_PID" || ip -n "$NET_ID-sw" link show "p$((NET_HOSTS - 1))"
}

# The ends of the NICs' cables: hosts' if there are any, else the switch's.
guest_cables() {
    local host
    for ((host = 0; host < NET_HOSTS; host++)); do
        if ip netns pids "$NET_ID-h$host" >/dev/null 2>&1; then
            guest_cable "$host"
        else
            net_real_frames "$NET_ID-sw" "p$host"
            ip -n "$NET_ID-sw" link set "p$host" up promisc on
        fi
    done
}

guest_mac() { # HOST: of the NIC at the other end of its cable
    printf '52:54:00:00:00:%02x\n' "$1"
}

guest_cable() { # HOST
    ip -n "$NET_ID-sw" link set "p$1" netns "$NET_ID-h$1"
    ip -n "$NET_ID-h$1" link set "p$1" address "$(net_mac "$1")" name eth0 up
    net_real_frames "$NET_ID-h$1" eth0
    ip -n "$NET_ID-h$1" address add "$(net_ip "$1")/24" dev eth0
}

guest_stop() {
    guest_monitor quit >/dev/null
    net_until 30 "the guest has ended" net_gone "$GUEST_PID"
    wait "$GUEST_PID" || true
    GUEST_PID=
}

# --- what is said to it -------------------------------------------------------------------------------------------

# A shell there does what it says; what that prints comes back, and its exit status.
guest() { # COMMAND...
    ip netns exec "$NET_ID-sw" python3 "${BASH_SOURCE[0]%/*}/tell.py" "$GUEST_PORT" "$*"
}

guest_monitor() { # COMMAND
    python3 "${BASH_SOURCE[0]%/*}/tell.py" "$NET_DIR/monitor" "$*"
}

guest_file() { # PLACE: its standard input becomes a file there
    guest "echo $(base64 -w0) | base64 -d >$1"
}
