#!/usr/bin/env bash
# script/bench operate     what it costs to be scraped, whether swaggctl why names causes that were made, and a restart in mid-job; --part
# Takes 4 minutes a run and 5 once; a look takes 3.
#
# Measures: operate.sh RUNS DIRECTORY ""|quick [PART...]. Each part leaves DIRECTORY/RUN,PART,WHAT.json (script/lib/parts.sh).
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=script/lib/parts.sh
. "$NET_LIB/parts.sh"

# shellcheck disable=SC2034 # the parts'
METRICS_PORT=9273

net_begin operate
measure_parts "$1" metrics_cost scrape why restart
