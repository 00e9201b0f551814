#!/usr/bin/env bash
# script/bench tenancy   many jobs and workers on one switch: one lcore with 8, 64 and 1,024 workers, jobs that share it
# Takes 3 minutes a run and 0 once; a look takes 2.
#
# Measures: tenancy.sh RUNS DIRECTORY ""|quick [PART...]. Each part leaves DIRECTORY/RUN,DEVICE,PART,WHAT.json (script/lib/parts.sh).
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck source=script/lib/memif.sh
. "$NET_LIB/memif.sh"
# shellcheck source=script/lib/dut.sh
. "$NET_LIB/dut.sh"
# shellcheck source=script/lib/parts.sh
. "$NET_LIB/parts.sh"

net_begin tenancy
take_hugepages
measure_parts "$1" one_lcore sharing auth
