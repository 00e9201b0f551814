# shellcheck shell=bash
# shellcheck disable=SC2154 # shared with script/lib/parts.sh
# Trees of switches with 240 and 3,600 workers, simulated (docs/scale.md). Time is simulated, too, so one run tells everything.

scale() {
    local options=()
    if [ "$run" -gt 1 ]; then
        return
    fi
    if [ -n "$quick" ]; then
        options=(--small)
    elif [ "${#wanted[@]}" -eq 0 ]; then
        options=(--out "$NET_ROOT/docs")
    fi
    "$NET_BUILD/sim/swagg-sim" scale --costs "$NET_ROOT/docs/results/data/dataplane.json" \
        --json "$records/$run,scale,all.json" "${options[@]}" >"$NET_DIR/scale.log" 2>&1 || fail "$(cat "$NET_DIR/scale.log")"
    printf '  run %s: scale: %s\n' "$run" "$(grep goodput_ "$records/$run,scale,all.json" | tr -d '\n')"
}
