#!/usr/bin/env bash
# Checks that the core needs only these symbols of others, and has no writable data: core_is_pure.sh ARCHIVE
set -euo pipefail
archive=$1

allowed=(
    memcpy memmove memset memcmp # chunks, headers, bitmaps
    strcmp strncmp strlen        # names of jobs and of kernels
    snprintf vsnprintf           # messages, into the caller's buffer
    __cpu_model __cpu_features2  # libgcc's: which vector kernels this CPU runs
    __popcountdi2                # libgcc's: ranks in a bitmap, where the CPU may lack the instruction
    _GLOBAL_OFFSET_TABLE_        # position-independent code
)

defined=$(nm --defined-only --format=posix "$archive" | awk 'NF >= 2 { print $1 }' | sort -u)
undefined=$(nm --undefined-only --format=posix "$archive" | awk 'NF >= 2 { print $1 }' | sort -u)
foreign=$(comm -23 <(printf '%s\n' "$undefined") <(printf '%s\n' "$defined" "${allowed[@]}" | sort -u))

# Writable data; tables of pointers, which only the dynamic linker writes, lie in .data.rel.ro.
state=$(nm --defined-only --format=sysv "$archive" |
    awk -F '|' '$7 ~ /^\.(data|bss|tdata|tbss)/ && $7 !~ /^\.data\.rel\.ro/ || $7 ~ /COM/ { print $1 }')

if [ -z "$defined" ]; then
    echo "$archive: no symbols: nothing was tested"
    exit 1
fi
if [ -n "$foreign$state" ]; then
    sed -n 's/./the core may not call: &/p' <<<"$foreign"
    sed -n 's/./the core may not have variables: &/p' <<<"$state"
    echo "lib/core is pure: no sockets, clock, malloc, output, globals (docs/architecture.md)."
    exit 1
fi
