#!/usr/bin/env bash
# script/bench switches   several switches, the places that one can have, and the ways of the paper that swagg began with; --part
# Takes 8 minutes a run and 8 once; a look takes 4.
#
# Measures: switches.sh RUNS DIRECTORY ""|quick [PART...]. Each part leaves DIRECTORY/RUN,PART,WHAT.json (script/lib/parts.sh).
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck source=script/lib/parts.sh
. "$NET_LIB/parts.sh"

net_begin switches
measure_parts "$1" tree case1 case2 bump rules scale
