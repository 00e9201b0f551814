# bash completion for swaggctl: commands and options from its own help, names of jobs, ports and threads from the running switch.

_swaggctl_names() { # VIEW COLUMN
    swaggctl "${switch[@]}" --no-header --only "$2" "$1" 2>/dev/null </dev/null
}

# What may stand in the place of a word of a command's usage.
_swaggctl_may() { # WORD
    case ${1//[][]/} in
    JOB) _swaggctl_names jobs name ;;
    PORT) _swaggctl_names ports name ;;
    LCORE) _swaggctl_names lcores lcore ;;
    MAC) _swaggctl_names fdb mac ;;
    LEVEL) echo error warning notice info debug ;;
    *"|"*) echo "${1//[][|]/ }" ;;
    [a-z]*) echo "$1" ;;
    esac
}

# What may follow the words that were typed, by the usages of all commands.
_swaggctl_next() { # WORD...
    local usage i
    local -a takes
    while read -r usage; do
        read -ra takes <<<"$usage"
        for ((i = 0; i < $#; i++)); do
            [[ ${takes[i]-} == [^a-z]* || ${takes[i]-} == *"|"* || ${takes[i]-} == "${*:i+1:1}" ]] || continue 2
        done
        [ -z "${takes[$#]-}" ] || _swaggctl_may "${takes[$#]}"
    done < <(swaggctl --help | sed -nE '/^commands:/,/^$/s/^  ([^ ]+( [^ ]+)*)  .*/\1/p')
}

_swaggctl() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i choices
    local -a words=() switch=()
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -s | --switch)
            switch=(--switch "${COMP_WORDS[i + 1]}")
            i=$((i + 1))
            ;;
        -o | --only | -n | --every | -c | --times | -w | --write | --port | --job | --rank | --kind | --reason | --snap) i=$((i + 1)) ;;
        -* | watch) ;;
        *) words+=("${COMP_WORDS[i]}") ;;
        esac
    done
    case $previous in
    -s | --switch) choices=$(swaggctl switches 2>/dev/null) ;;
    --port) choices=$(_swaggctl_may PORT) ;;
    --job) choices=$(_swaggctl_may JOB) ;;
    --reason) choices=$(swaggctl "${switch[@]}" --json drops 2>/dev/null </dev/null | grep -oE '"[a-z_]+": *[0-9]' | grep -oE '[a-z_]+') ;;
    --kind) choices="data control other" ;;
    -w | --write) choices=$(compgen -f -- "$word") ;;
    -o | --only | -n | --every | -c | --times | --rank | --snap) return ;;
    *)
        if [[ $word == -* ]]; then
            choices=$(swaggctl --help | grep -oE -- '--[a-z-]+')
        else
            choices=$(_swaggctl_next "${words[@]}")
        fi
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word" | sort -u)
}

complete -F _swaggctl swaggctl
