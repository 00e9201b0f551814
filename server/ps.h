/* swagg-ps as a whole: the registry of jobs on the main thread, and the threads that sum.
 *
 * Threads: run is the main thread's. What shows or changes the server may be another's: it takes the lock,
 * under which alone registry, jobs and configuration change.
 */
#ifndef SWAGG_SERVER_PS_H
#define SWAGG_SERVER_PS_H

#include <pthread.h>

#include "registry/anteroom.h"
#include "registry/job_lines.h"
#include "registry/keyring.h"
#include "registry/listening.h"
#include "shard.h"

struct ps {
    struct config *cfg; /* under the lock, once there are operators: another file may take its place */
    const char *file;
    int tick_ms;
    char name[CONFIG_NAME_MAX]; /* of this server, for operators */
    uint64_t boot_id, reject_id, started;
    struct jobs jobs;
    unsigned shards;
    struct shard shard[CONFIG_SERVER_THREADS_MAX];

    int control_fd, signal_fd, stop_fd;
    struct anteroom anteroom;    /* of control messages */
    uint64_t drop[DROP_REASONS]; /* those that were not let in; atomic */
    struct listening listening;
    uint64_t tick_at;

    pthread_mutex_t lock;
    struct ctl_registry *registry;
    struct keyring keys;
    struct ctl_tenant tenant[CONFIG_TENANTS_MAX];
    uint64_t now;           /* of the registry's clock, when it was last called */
    struct job_lines lines; /* in the log */
};

/* ps: all zero. cfg was read from the file; both outlive it. 0, or -errno after logging; ps_close follows in
 * any case. */
int ps_open(struct ps *ps, struct config *cfg, const char *file);

/* Until SIGTERM or SIGINT. SIGHUP has it read its file anew. */
void ps_run(struct ps *ps);
void ps_close(struct ps *ps);

#endif
