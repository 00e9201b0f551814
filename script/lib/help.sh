# shellcheck shell=bash
# To be sourced first: with --help a script prints the comment at its top, and exits.
case ${1:-} in
-h | --help)
    sed -n '2,/^[^#]/{/^# *shellcheck /d; s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
esac
