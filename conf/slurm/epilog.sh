#!/usr/bin/env bash
# EpilogSlurmctld: what was kept for the job is free. Its ranks are gone by now; the switch ends a job that they have not left.
set -euo pipefail
# shellcheck source=conf/slurm/swagg.sh
. "$(dirname "${BASH_SOURCE[0]}")/swagg.sh"

swagg_is_wanted || exit 0
"${swagg_ctl[@]}" job release "slurm-$SLURM_JOB_ID" 2>/dev/null || true # its time may be over
