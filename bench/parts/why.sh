# shellcheck shell=bash
# shellcheck disable=SC2154 # of operate.sh and parts.sh
# What swaggctl why says of causes made on purpose, five kinds of four strengths, and of healthy jobs, twenty times. Once: in the first run.

why() {
    local strengths=(1 2 3 4) strength healthy=20 said=()
    [ "$run" = 1 ] || return 0
    if [ -n "$quick" ]; then
        strengths=(4) healthy=2
    fi
    net_hosts 4
    net_swagg_with
    why_job 0 --largest 20000 --pause 100
    why_healthy "$healthy"
    why_job_ends
    why_job 0 --largest 200K --pause 20 # of so few packets that hardly one is lost nobody can tell
    for strength in "${strengths[@]}"; do
        why_link rx "$strength"
        why_link tx "$strength"
    done
    why_job_ends
    for strength in "${strengths[@]}"; do
        why_late "$strength"
    done
    net_swagg_stop
    for strength in "${strengths[@]}"; do
        why_configured slots "pool: {slots_per_job: $((64 >> strength))}" --largest 200K
        why_configured mtu "mtu: $((600 - 80 * strength))" --largest 20000 --pause 100
    done
    printf '%s\n' "${said[@]}" | python3 -c 'import json, sys; print(json.dumps([dict(zip(("kind", "strength", "named"), line.split())) for line in sys.stdin]))' \
        >"$records/$run,why,all.json"
    printf '  run %s: why, kind, strength, named: %s\n' "$run" "$(IFS=,; echo "${said[*]}")"
}

# Until why_job_ends. Rank 3 waits so many ms longer between calls.
why_job() { # LATER ARGUMENT...
    local rank later=$1 ranks=() more
    shift
    for rank in 0 1 2 3; do
        more=()
        [ "$rank" != 3 ] || [ "$later" = 0 ] || more=(--pause "$later")
        net_background "$NET_DIR/rank$rank.log" ip netns exec "$NET_ID-h$rank" "$NET_BUILD/tests/collectives" --switch "$(net_switch_ip)" --job why --rank "$rank" --size 4 \
            --until-told "$@" "${more[@]}"
        ranks+=($!)
    done
    WHY_RANKS=("${ranks[@]}")
    net_until 60 "the job sums" why_has_begun
    sleep 1
}

why_has_begun() {
    [ "$(net_ctl -H -o state job why | awk '{ print $2 }')" = running ]
}

why_job_ends() {
    local rank
    kill -TERM "${WHY_RANKS[0]}"
    for rank in "${WHY_RANKS[@]}"; do
        wait "$rank" || fail "why: a rank has failed: $(cat "$NET_DIR"/rank?.log)"
    done
}

# The first cause that is named must be this one.
why_asked() { # KIND STRENGTH REGEX
    net_ctl --every 2 why why >"$NET_DIR/why.txt"
    if head -n1 "$NET_DIR/why.txt" | grep -Eq "$3"; then
        said+=("$1 $2 yes")
    else
        said+=("$1 $2 $(head -n1 "$NET_DIR/why.txt" | cut -d: -f1 | tr ' ' _)")
    fi
}

why_healthy() { # TIMES
    local i
    for ((i = 1; i <= $1; i++)); do
        why_asked healthy "$i" '^nothing: '
    done
}

why_link() { # rx|tx STRENGTH
    local drop=(0 0.01 0.02 0.05 0.1)
    net_ctl impair set h1 "$1" "drop=${drop[$2]}" >"$NET_DIR/impair.txt"
    sleep 1
    why_asked "link_$1" "$2" '^link: the link of rank 1 '
    net_ctl impair clear h1 >"$NET_DIR/impair.txt"
    sleep 1
}

why_late() { # STRENGTH
    local later=(0 20 50 100 200)
    why_job "${later[$1]}" --largest 20000 --pause 1
    sleep 1
    why_asked late "$1" '^rank: rank 3 '
    why_job_ends
}

why_configured() { # KIND YAML ARGUMENT...
    net_swagg_with "$2"
    why_job 0 "${@:3}"
    why_asked "$1" "$strength" "^$1: "
    why_job_ends
    net_swagg_stop
}
