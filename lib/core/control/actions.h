/* What the registry asks of its surroundings, and its configuration. */
#pragma once

#include "control/entry.h"
#include "protocol/protocol.h"

enum { CTL_LATER = 1 }; /* what prepare may answer */

enum { CTL_NO_RANK = UINT16_MAX };

enum ctl_event_kind {
    CTL_EVENT_NOTE,
    CTL_EVENT_WARNING, /* somebody should look */
    CTL_EVENT_BEGINS,  /* the job runs from now on, perhaps again */
    CTL_EVENT_ENDS,    /* without a failure */
    CTL_EVENT_FAILS,
};

/* What has become of a job. */
struct ctl_event {
    enum ctl_event_kind kind;
    const char *text; /* a short sentence that does not name the job */
    uint16_t rank;    /* that it is about; CTL_NO_RANK: none, or several */
};

struct ctl_registry_actions {
    void *ctx;
    void (*send)(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    /* Makes a pool for the job, whose ranks are all there. Fills in *number: a free one that
     * ctl_entry_had_number does not exclude; of several, the one that was freed longest ago, so that late
     * packets of an ended job reach no other. May lower *terms, but not if job->resumed. Returns 0: from here
     * on data packets of its members count. Or -ENOSPC (no slots), -EMFILE (no job numbers), -EINVAL (not
     * within this switch's limits), with the reason in words in text. Or CTL_LATER: making it takes time; the
     * caller of the registry then reports the result by ctl_registry_prepared, with job->preparation, unless
     * release comes first. */
    int (*prepare)(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX]);
    /* The job ends (RUNNING; job->number is valid): its packets are to be refused and its pool freed. Or the
     * pool that is being made is no longer needed (PREPARING). */
    void (*release)(void *ctx, const struct ctl_entry *job);
    /* 64 random bits that nobody can foretell, from a generator made for secrets: an epoch or a first tag
     * that others could guess would let them interfere with a job that they are not in. */
    uint64_t (*random)(void *ctx);
    /* For the log: something has changed. May be NULL. */
    void (*event)(void *ctx, const struct ctl_entry *job, const struct ctl_event *event);
    /* The tenant whose process this is, at this address in a job of this name, now and later: a number that
     * only the caller understands. key: the tenant whose key it has, or CTL_NO_KEY. -1: it may not be in such
     * a job; text says why. May be NULL: the key alone says it, and everybody without one is tenant 0. */
    int (*tenant_of)(void *ctx, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX]);
    /* Whether packets from this IP address and network, and this UDP port, are those of a job that nobody
     * joins; text says whose. May be NULL: there are no such jobs. */
    bool (*is_taken)(void *ctx, const struct ctl_endpoint *from, uint16_t data_port, char text[CTL_TEXT_MAX]);
    /* A member of a RUNNING job speaks from another MAC address now: another router or network card has taken
     * over. Its endpoint has it already. May be NULL. */
    void (*moved)(void *ctx, const struct ctl_entry *job, unsigned rank);
    /* Whether, since this was last asked, data packets came of a member of a RUNNING job that sends for
     * itself: they show that it lives, as its HEARTBEATs do. May be NULL: these alone do. */
    bool (*heard)(void *ctx, const struct ctl_entry *job, unsigned rank);
    /* A process was told REFUSED, and why. name: of the job that it means; "": not known. May be NULL. */
    void (*refused)(void *ctx, const struct ctl_endpoint *from, const char *name,
                    const struct ctl_failure *why);
    /* How many entries are kept for jobs that are not there yet, and that this tenant's job of this name may
     * not have; of_tenant: only those for jobs of the same tenant. May be NULL: none. */
    unsigned (*kept)(void *ctx, int tenant, const char *name, bool of_tenant);
};

enum { CTL_NO_KEY = -1 };

/* One of the keys that workers may have. */
struct ctl_tenant_key {
    struct keys_key key;
    int tenant; /* whose it is, as tenant_of counts; a tenant may have several. CTL_NO_KEY: there is no key */
    bool retired; /* who is in a job with it stays; nobody joins one with it any more */
};

/* What the lives of one switch have in common: the secret of which tickets are made (guard.h). */
struct ctl_lasting {
    uint8_t secret[KEYS_SECRET_BYTES];
    bool is_new; /* made so lately that ranks of an earlier life may have no ticket of it: those are believed
                  */
};

/* The late result of prepare: what it would have returned, and the arguments that it would have filled in. */
struct ctl_prepared {
    int result; /* not CTL_LATER */
    struct agg_terms terms;
    uint8_t number;
    char text[CTL_TEXT_MAX];
};

/* Whose jobs share the switch. */
struct ctl_tenant {
    const char *name;
    uint16_t jobs;      /* that it may have at once; 0: as many as there are */
    uint16_t elsewhere; /* of these, jobs that nobody joins, so that the registry does not know them */
    bool data_keys;     /* the data packets of its jobs with a key are keyed, too */
};

struct ctl_registry_config {
    const struct agg_protocol *const *protocols; /* that jobs may use; outlives the registry */
    unsigned protocols_known;                    /* how many, at least 1 */
    uint16_t max_jobs;                           /* 1..256 */
    uint16_t max_workers;                        /* of one job; 0: CTL_RANKS_MAX */
    unsigned tenants_known;
    const struct ctl_tenant *tenants; /* by the number that tenant_of gives; outlives the registry */
    uint16_t jobs_per_host;  /* live jobs that were founded from one IP address; 0: all but a quarter */
    uint64_t boot_id;        /* random, not 0, and secret: ctl_guard_boot_id */
    uint64_t lost_after_ns;  /* 10 ms .. 1 h; 5 s is a good value */
    uint64_t forming_max_ns; /* how long a new job may take to form; 0: 10 minutes */
    /* Ranks that live, and for which another one has waited for so long in a collective, are named in an
     * event; 0: 2 s. And for so long: the job fails; 0: never. */
    uint64_t late_after_ns, late_ends_ns;
    /* Told in READY: to how many UDP ports, from the protocol's first on, workers should deal their slots, or
     * to as many as the protocol has; 0: to one. */
    uint8_t data_ports;
    bool hears_nics;        /* members' packets may be sends of their NICs' (wire/roce.h) */
    uint16_t payload_bytes; /* of the longest UDP payload that the switch's ports carry; 0: any */
    /* IPv4 groups for jobs' results (agg_limits), one a job, by chance: the first, in host order, and how
     * many; 0: none. Two jobs may get the same one: each tells its own packets. */
    uint32_t first_group, groups;
    const struct keys_library *library; /* NULL: there are no keys */
    const struct ctl_tenant_key *key;   /* [keys]; outlive the registry, as does the library */
    unsigned keys;
    const struct ctl_lasting *lasting; /* outlives the registry; NULL: nothing outlives a restart. Only with a
                                          library */
    struct ctl_registry_actions actions;
};

/* How many ranks a job can have. */
static inline uint16_t ctl_registry_workers(const struct ctl_registry_config *cfg)
{
    return cfg->max_workers ? cfg->max_workers : CTL_RANKS_MAX;
}

/* The protocol with this number; NULL: this switch does not speak it. */
static inline const struct agg_protocol *ctl_registry_protocol(const struct ctl_registry_config *cfg,
                                                               uint8_t id)
{
    for (unsigned i = 0; i < cfg->protocols_known; i++)
        if (cfg->protocols[i]->id == id)
            return cfg->protocols[i];
    return NULL;
}
