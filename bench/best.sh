# shellcheck shell=bash
# The best that Open MPI has for a tensor on the hosts that there are: candidates are tried on a short one, the fastest of them in full,
# and the fastest of these is measured. Source it after lib.sh; the caller sets $setting, too. bench/best.py reads what was tried.
#
# A candidate is an algorithm of coll_tuned's by number, or a way of coll_han's, whose level within a host comes first: libnbc or adapt between
# hosts, or "simple", without a pipeline. Those that cut tensors have a segment's bytes behind that: "5 65536", "han_adapt 1048576".

# shellcheck disable=SC2154 # $setting, $run and $records are the caller's

SHORT="4M 1 1" # enough to tell which of them to try in full
FINALISTS=2

candidate_options() { # OP "CANDIDATE [SEGMENT]"
    local way segment
    read -r way segment <<<"$2"
    case $way in
    han*)
        printf -- '--mca\ncoll_han_priority\n100\n'
        [ "$way" != han_adapt ] || printf -- '--mca\ncoll_han_%s_up_module\n1\n' "$1"
        [ "$way" != han_simple ] || printf -- '--mca\ncoll_han_use_simple_%s\n1\n' "$1"
        [ -z "$segment" ] || printf -- '--mca\ncoll_han_%s_segsize\n%s\n' "$1" "$segment"
        ;;
    *)
        printf -- '--mca\ncoll_tuned_use_dynamic_rules\n1\n--mca\ncoll_tuned_%s_algorithm\n%s\n' "$1" "$way"
        [ -z "$segment" ] || printf -- '--mca\ncoll_tuned_%s_algorithm_segmentsize\n%s\n' "$1" "$segment"
        ;;
    esac
}

# As they are named in records: CANDIDATE or CANDIDATE_SEGMENT. None has a number at its end.
candidate_of() { # NAME
    sed -E 's/_([0-9]+)$/ \1/' <<<"$1"
}

try() { # STAGE OP TENSOR NAME
    local options
    mapfile -t options < <(candidate_options "$2" "$(candidate_of "$4")")
    measure "$setting,$1_$4" "$2" "$3" "${options[@]}"
}

# The names of the fastest of a stage, the first first; with FACTOR only those that took at most so many times as long as the first.
fastest() { # STAGE OP COUNT [FACTOR]
    python3 - "$records" "$setting" "$1" "$2" "$3" "${4:-inf}" <<'END'
import glob, json, os, sys
records, setting, stage, op, count, factor = sys.argv[1:]
time = {}
for path in glob.glob(f"{records}/1,{setting},{stage}_*,{op}.json"):
    candidate = os.path.basename(path).split(",")[2][len(stage) + 1:]
    time[candidate] = json.load(open(path))[0]["median_us"]
print(*(name for name in sorted(time, key=time.get)[:int(count)] if time[name] <= min(time.values()) * float(factor)), sep="\n")
END
}

# Once, in the first run. Then `best` is what fastest says of the last stage.
search() { # OP TENSOR CANDIDATE...
    local op=$1 tensor=$2 candidate
    shift 2
    [ "$run" = 1 ] || return 0
    for candidate in "$@"; do
        try short "$op" "$SHORT" "${candidate/ /_}"
    done
    for candidate in $(fastest short "$op" "$FINALISTS"); do
        try full "$op" "$tensor" "$candidate"
    done
}

measure_best() { # OP TENSOR
    local options
    mapfile -t options < <(candidate_options "$1" "$(candidate_of "$(fastest full "$1" 1)")")
    measure "$setting,best" "$1" "$2" "${options[@]}"
}

# Open MPI as it chooses and at its best, over a bridge.
search_and_measure() { # OP TENSOR CANDIDATE...
    search "$@"
    measure "$setting,openmpi" "$1" "$2"
    measure_best "$1" "$2"
}
