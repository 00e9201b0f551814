/* swagg-ps as a whole: the registry of jobs on the main thread, and the threads that sum.
 *
 * Threads: run is the main thread's. What shows the server may be another's: it takes the registry's lock,
 * under which alone registry, jobs and configuration change.
 */
#pragma once

#include "operator/handoff.h"
#include "registry/reception.h"
#include "registry/registry_reload.h"
#include "shard.h"

struct ps {
    struct registry_host common; /* the first, for functions of its kind */
    struct registry_reload reload;
    struct config *cfg; /* under the lock, once there are operators: another file may take its place */
    char name[CONFIG_NAME_MAX]; /* of this server, for operators */
    uint64_t started;
    struct history *history;
    struct jobs jobs;
    unsigned shards;
    struct shard shard[CONFIG_SERVER_THREADS_MAX];

    int control_fd, signal_fd, stop_fd;
    struct handoff handoff; /* from operators to the main thread */
    struct reception reception;
    uint64_t tick_at;
};

/* ps: all zero. cfg was read from the file; both outlive it. 0, or -errno after logging; ps_close follows in
 * any case. */
int ps_open(struct ps *ps, struct config *cfg, const char *file);

/* Until SIGTERM or SIGINT. SIGHUP has it read its file anew. */
void ps_run(struct ps *ps);
void ps_close(struct ps *ps);
