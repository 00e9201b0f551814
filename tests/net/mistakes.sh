#!/usr/bin/env bash
# What users are told who make a mistake: a wrong address, a host that is not there, too few privileges.
set -euo pipefail
# shellcheck source=tests/net/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_with_swagg mistakes

asked=$(net_ip 2)
rank_switch() { # RANK
    printf '%s\n' "$asked"
}

# Patience is long here: who answers by ICMP must be told apart although hosts send little of it.
step "the address of a host without swagg"
rank_start nobody 0 1
ranks_wait 120
expect_told "$asked is there, but no swagg runs on it \(UDP port 48863 is closed\)" 0

step "an address that nobody has"
asked=$(net_ip 77)
rank_start nobody 0 1 --answer-timeout 500
ranks_wait 120
expect_told "nothing at $asked answers on UDP port 48863: check that swagg runs there" 0

net_swagg_stop
