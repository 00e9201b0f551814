# shellcheck shell=bash
# What comes from Debian's mirror. Source it.

# apt waits for a lock that another apt may hold.
apt_get() {
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

# What needs apt's lists. They may be stale or absent: they are refreshed only if it fails with what is there, and it has one more try.
with_apt_lists() { # COMMAND...
    "$@" || { apt_get update && "$@"; }
}
