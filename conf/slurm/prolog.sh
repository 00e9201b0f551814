#!/usr/bin/env bash
# PrologSlurmctld: a job with --comment=swagg begins when the switch has kept room for it. The account is the switch's tenant. Without
# room it fails, and Slurm has a batch job wait and tries again (docs/clusters.md).
set -euo pipefail
# shellcheck source=conf/slurm/swagg.sh
. "$(dirname "${BASH_SOURCE[0]}")/swagg.sh"

swagg_is_wanted || exit 0
slots=$swagg_slots ranks=
for word in "${swagg_said[@]:1}"; do
    case $word in
    slots=*[!0-9]* | ranks=*[!0-9]* | slots= | ranks=) printf 'swagg: %s is no number\n' "$word" >&2 && exit 1 ;;
    slots=*) slots=${word#*=} ;;
    ranks=*) ranks=${word#*=} ;;
    *) printf 'swagg: a job says slots=N or ranks=N, not %s\n' "$word" >&2 && exit 1 ;;
    esac
done
if [ -z "$ranks" ]; then
    nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l)
    ranks=$((nodes * swagg_ranks_per_node))
fi
seconds=$swagg_for
if [ -n "${SLURM_JOB_END_TIME:-}" ]; then
    seconds=$((SLURM_JOB_END_TIME - $(date +%s) + 60))
fi
name=slurm-$SLURM_JOB_ID
"${swagg_ctl[@]}" job release "$name" 2>/dev/null || true # of a job that was requeued
# MPI and torch call their jobs as they like, so it is for all of the tenant's.
"${swagg_ctl[@]}" job reserve "$name" tenant="$SLURM_JOB_ACCOUNT" job='*' ranks="$ranks" slots="$slots" for="$seconds"
