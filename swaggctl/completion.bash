# bash completion for swaggctl: commands from its own list, names of jobs, ports and threads from the running switch.

_swaggctl_names() { # VIEW COLUMN
    swaggctl "${switch[@]}" --no-header --only "$2" "$1" 2>/dev/null </dev/null
}

_swaggctl() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i
    local -a words=() switch=()
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -s | --switch)
            switch=(--switch "${COMP_WORDS[i + 1]}")
            i=$((i + 1))
            ;;
        -o | --only | -n | --every | -c | --times | -w | --write | --port | --job | --kind | --snap) i=$((i + 1)) ;;
        -* | watch) ;;
        *) words+=("${COMP_WORDS[i]}") ;;
        esac
    done
    case $previous in
    -s | --switch)
        mapfile -t COMPREPLY < <(compgen -W "$(swaggctl switches 2>/dev/null)" -- "$word")
        return
        ;;
    --port) mapfile -t COMPREPLY < <(compgen -W "$(_swaggctl_names ports name)" -- "$word") && return ;;
    --job) mapfile -t COMPREPLY < <(compgen -W "$(_swaggctl_names jobs name)" -- "$word") && return ;;
    --kind) mapfile -t COMPREPLY < <(compgen -W "data control other" -- "$word") && return ;;
    -w | --write)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    -o | --only | -n | --every | -c | --times | --snap) return ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(swaggctl --help | grep -oE -- '--[a-z-]+')" -- "$word")
        return
    fi
    local choices
    case "${words[*]}" in
    "") choices=$(swaggctl --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\).*/\1/p') ;;
    job) choices="drain kill reset $(_swaggctl_names jobs name)" ;;
    "job drain" | "job kill" | "job reset" | ranks | slots | sums) choices=$(_swaggctl_names jobs name) ;;
    port) choices="add del up down $(_swaggctl_names ports name)" ;;
    "port up" | "port down" | "port del" | drops | "fdb flush") choices=$(_swaggctl_names ports name) ;;
    fdb) choices="add del flush" ;;
    "fdb add" | "fdb del") choices=$(_swaggctl_names fdb mac) ;;
    "fdb add "*) choices=$(_swaggctl_names ports name) ;;
    impair) choices="set clear" ;;
    "impair set" | "impair clear") choices=$(_swaggctl_names ports name) ;;
    "impair set "* | "impair clear "*) choices="rx tx" ;;
    lcore) choices=$(_swaggctl_names lcores lcore) ;;
    log) choices="level" ;;
    "log level") choices="error warning notice info debug" ;;
    *) return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}

complete -F _swaggctl swaggctl
