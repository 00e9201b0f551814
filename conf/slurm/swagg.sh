# shellcheck shell=bash disable=SC2034
# What prolog and epilog beside it know of the switch: /etc/slurm/swagg/swagg.sh (docs/clusters.md).

# Slurm sets none.
export PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}"

# How slurmctld's user reaches the operators' socket: on the switch, (swaggctl --switch NAME), with him in control.group; else by ssh.
swagg_ctl=(ssh -o BatchMode=yes swagg-box swaggctl)

# Of a job that says nothing else (--comment="swagg slots=2048 ranks=32"): slots, and ranks of a node.
swagg_slots=1024
swagg_ranks_per_node=1

# For how many seconds, where Slurm does not say when the job ends.
swagg_for=86400

# Whether the job wants the switch, and what it has said: sets swagg_said.
swagg_is_wanted() {
    read -ra swagg_said <<<"${SLURM_JOB_COMMENT:-}"
    [ "${swagg_said[0]:-}" = swagg ]
}
