/* A registry (control/registry.h) with all around it that is the same in every program which workers join,
 * whatever carries its packets: tenants, keys, the clock, the lines about jobs in the log, and the lock under
 * which others look.
 *
 * A program's own struct begins with a struct registry_host, which is what the functions of its kind get.
 *
 * Threads: one changes it, and calls all functions here; any reads under the lock. now: the machine's clock,
 * ns, monotonic.
 */
#pragma once

#include <pthread.h>

#include "config/reserved.h"
#include "history/history.h"
#include "registry/job_lines.h"
#include "registry/keyring.h"
#include "registry/lasting.h"
#include "registry/listening.h"
#include "relay/proxy.h"
#include "views/registry_views.h"

struct registry_host;

enum registry_host_end { REGISTRY_HOST_KILL, REGISTRY_HOST_DRAIN };

/* What differs: constant. A function that is NULL has nothing to do. */
struct registry_host_kind {
    /* But for random, event, tenant_of. ctx is the struct registry_host. */
    struct ctl_registry_actions actions;
    /* Where the configuration has uplinks: send_up, prepare, release, moved, parent_moved, proven,
     * payload_bytes. The rest is the host's, and so is ctx. */
    struct relay_actions relay;
    /* Fills in how many rounds each thread has made that receives data packets (listening.h); returns how
     * many threads there are. NULL: the caller's rounds say enough. */
    unsigned (*rounds)(const struct registry_host *h, uint64_t rounds[SWAGG_MAX_LCORES], uint64_t now);
    void (*changed)(struct registry_host *h); /* the registry may have changed; under the lock */
    /* Whether there is room for such a job beside those that run and what is reserved; if not, text, unless
     * NULL, says what lacks. NULL: nothing can be reserved here. */
    bool (*has_room)(const struct registry_host *h, const struct room_job *asked, char text[AGG_TEXT_MAX]);
};

struct registry_host_parts {
    const struct registry_host_kind *kind;
    const struct config *cfg;                    /* at whose place another may come (registry_reload.h) */
    const struct agg_protocol *const *protocols; /* that jobs may use */
    unsigned protocols_known;                    /* how many, at least 1 */
    uint64_t boot_id;                            /* random, not 0: so that workers notice a restart */
    uint8_t data_ports;      /* to how many UDP ports workers are told to deal their packets */
    bool hears_nics;         /* as in struct ctl_registry_config */
    uint16_t max_workers;    /* of a job; 0: limits.workers */
    uint16_t payload_bytes;  /* of the longest packet; 0: what mtu leaves */
    struct history *history; /* that hears what becomes of jobs; outlives the host; NULL: nobody does */
};

struct registry_host {
    struct registry_host_parts parts;
    struct ctl_tenant tenant[CONFIG_TENANTS_MAX];
    struct job_lines lines;
    struct listening listening;
    bool has_lasting;
    struct ctl_lasting lasting;
    pthread_mutex_t lock; /* protects what follows */
    uint64_t now;         /* of the registry's clock, when it was last called */
    struct keyring keyring;
    struct ctl_registry_config config;
    void *memory; /* the registry's */
    struct ctl_registry *registry;
    struct relay_uplink uplink[SWAGG_MAX_UPLINKS];
    struct relay_proxy *proxy; /* of jobs that go on to a switch above; NULL: all have their root here */
    unsigned relayed_max;      /* how many such jobs there are places for */
    struct reserved reserved;
};

/* Reads the keys and what outlives a restart, and takes the memory. 0, or -errno after logging;
 * registry_host_close follows in any case.
 */
int registry_host_open(struct registry_host *h, const struct registry_host_parts *parts, uint64_t now);
/* Has the registry begin, which is NULL until then. 0, or -ENOMEM after logging: only where there are
 * uplinks.
 */
int registry_host_begin(struct registry_host *h);
void registry_host_close(struct registry_host *h);

/* What cfg says, with these keys. */
struct ctl_registry_config registry_host_config(struct registry_host *h, const struct config *cfg,
                                                const struct keyring *keys);
/* For a registry of this configuration. NULL, after logging: there is none. */
void *registry_host_memory(const struct ctl_registry_config *config);
/* Takes from the configuration what is not in registry_host_config. */
void registry_host_follow(struct registry_host *h);

/* Around calls of the registry: takes the lock, and sets h->now. heard: the address whose message is handled;
 * 0: none is. */
void registry_host_enter(struct registry_host *h, uint32_t heard, uint64_t now);
void registry_host_leave(struct registry_host *h);

/* As ctl_registry_receive, ctl_registry_tick; jobs that go on to a switch above included. */
enum ctl_parse_error registry_host_receive(struct registry_host *h, const struct ctl_endpoint *from,
                                           const uint8_t *payload, size_t bytes, uint64_t now);
void registry_host_tick(struct registry_host *h, uint64_t now);

/* What is from the switch above, by this uplink. */
enum ctl_parse_error registry_host_receive_up(struct registry_host *h, unsigned uplink,
                                              const struct ctl_endpoint *from, const uint8_t *payload,
                                              size_t bytes, uint64_t now);

/* Shows who is in a job now. */
void registry_host_list_members(const struct registry_host *h, struct ctl_known *to);

/* As ctl_registry_cut. */
void registry_host_cut(struct registry_host *h, ctl_is_there *is_there, const void *context,
                       const char *where, uint64_t now);

/* The operator ends a tenant's job of this name, or lets it come to its end. False: there is none that lives.
 */
bool registry_host_end(struct registry_host *h, enum registry_host_end how, int tenant, const char *name,
                       uint64_t now);

/* The tenants whom jobs belong to: bit t is that of tenant t. */
uint64_t registry_host_tenants(const struct registry_host *h);

/* Whether somebody in a job has key i. */
bool registry_host_has_key(const struct registry_host *h, unsigned i);

/* Calls visit for every job; of several of one tenant and name for the one that has not failed. It must be
 * quick and must not call the host, since no job changes meanwhile. Any thread. */
struct registry_job {
    const struct ctl_entry *entry;
    const struct relay_job *relayed; /* the job around the entry, which goes on to a switch above; NULL: this
                                        is its root */
    uint64_t now;                    /* by the clock of the job's times (listening.h) */
};
typedef void registry_visitor(void *context, const struct registry_job *job);
void registry_host_visit(struct registry_host *h, registry_visitor *visit, void *context);

/* Job i of those that go on to a switch above, which may be CTL_ENTRY_FREE; NULL: there are no more. Under
 * the lock. */
static inline const struct relay_job *registry_host_relayed(const struct registry_host *h, unsigned i)
{
    return i < h->relayed_max ? relay_job(h->proxy, i) : NULL;
}

/* To be looked at, under the lock. */
struct registry_shown registry_host_shown(const struct registry_host *h);
