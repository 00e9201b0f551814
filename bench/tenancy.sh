#!/usr/bin/env bash
# script/bench tenancy   many jobs and workers on one switch: one lcore with 8, 64 and 1,024 workers, jobs that share it; --quick
#
# Measures: tenancy.sh RUNS DIRECTORY [quick]. Each part, bench/parts/PART.sh, has a function PART that does one run of its
# measurements and leaves DIRECTORY/RUN,DEVICE,PART,WHAT.json; bench/parts/PART.py makes figures of them.
set -euo pipefail
# shellcheck source=script/lib/netns.sh
. "$(dirname "${BASH_SOURCE[0]}")/../script/lib/netns.sh"
# shellcheck source=script/lib/memif.sh
. "$NET_LIB/memif.sh"
# shellcheck source=script/lib/dut.sh
. "$NET_LIB/dut.sh"

runs=$1
# shellcheck disable=SC2034 # the parts' and dut.sh's
records=$2 quick=${3:-}
parts=(one_lcore sharing)

for part in "${parts[@]}"; do
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/parts/$part.sh"
done
net_begin tenancy
take_hugepages
for ((run = 1; run <= runs; run++)); do
    for part in "${parts[@]}"; do
        "$part"
    done
done
