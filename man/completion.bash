# bash completion for swagg's programs: commands and options from their own help. All else is a file.

_swagg() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} choices='' commands i
    local -a command=()
    commands=$("$program" --help 2>/dev/null </dev/null | sed -nE '/^commands|^usage: [^ ]+ [a-z]+\|/,/^$/s/^  ([a-z]+)  .*/\1/p')
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [ "${#command[@]}" -eq 0 ] && grep -Fxq -- "${COMP_WORDS[i]}" <<<"$commands"; then
            command=("${COMP_WORDS[i]}")
        fi
    done
    COMPREPLY=()
    if [[ $word == -* ]]; then
        choices=$("$program" "${command[@]}" --help 2>/dev/null </dev/null | sed -nE 's/^  (-., |    )(--[a-z_-]+).*/\2/p; $s/.*/--help\n--version/p')
    elif [ "${#command[@]}" -eq 0 ]; then
        choices=$commands
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    [[ -n $choices && $word == -* ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}

complete -o filenames -F _swagg swagg swagg-ps swagg-doctor swagg-mpi-proxy swagg-switchml-session swagg-tofino swagg-perf swagg-replay swagg-sim swagg-pcap swagg-source swagg-thc-table \
    swagg-hostagg-worker swagg-hostagg-host
