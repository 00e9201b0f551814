# shellcheck shell=bash
# Source it first: a script that is asked for --help says what stands at its head, and does nothing else.
case ${1:-} in
-h | --help)
    sed -n '2,/^[^#]/{/^# *shellcheck /d; s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
esac
