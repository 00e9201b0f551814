# shellcheck shell=bash
# The thread organisations of the paper that swagg began with (figure 8), as configurations of the switch, for case1.sh and case2.sh. P is
# the number of ports.

organisation() { # one|p_2x|2p_x: prints the lcores' YAML
    local port
    echo "lcores:"
    for ((port = 0; port < NET_HOSTS; port++)); do
        case $1 in
        p_2x) printf '  - {rx: [h%d], tx: [h%d]}\n' "$port" "$port" ;;
        2p_x) printf '  - {rx: [h%d]}\n  - {tx: [h%d]}\n' "$port" "$port" ;;
        esac
    done
    case $1 in
    one) echo "  - {rx: [all], tx: [all], aggregate: [0]}" ;;
    p_2x) printf '  - {aggregate: [%d]}\n' 0 1 ;;
    2p_x) echo "  - {aggregate: [0]}" ;;
    esac
}
