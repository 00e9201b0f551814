/* Control at a switch that has another one above it (docs/protocol.md, "Trees of switches"): a proxy between
 * the ranks below and the registry of the job's root.
 *
 *   from   message         what is done
 *   below  JOIN            checked here, as far as it concerns this switch; passed up as that of a rank whose
 *                          sums come from this switch
 *   below  the others      passed up, if the process is known
 *   above  PENDING, ALIVE  passed down
 *   above  REFUSED         passed down, with the name of the switch that said it
 *   above  READY           once all ranks that come by this switch have theirs, as it says, the pool is made
 *                          (prepare); then each of them gets it, with this switch's number and ports
 *   above  LEFT            passed down; with the last one the pool is released
 *   above  ABORTED         the pool is released; passed down as REFUSED is
 *   above  UNKNOWN         the pool is released; passed down: its ranks join again if the boot id is new
 *
 * Nothing is sent here by time: ranks repeat what is not answered, and the root tells who is silent.
 * Processes keep their incarnations, ranks, serials and epochs on the way. Only the boot id changes: below,
 * this switch shows that of the switch above, exclusive or 64 random bits of its own; so whichever of the two
 * restarts, the ranks see another one, and nothing needs to be remembered to translate it.
 *
 * A job stays in one life as long as every switch on every way does. If one restarts, its ranks learn it from
 * an UNKNOWN (or REJECT, on the data path), and JOIN with resume; the root then has all ranks join again
 * (control/registry.h), and everybody gets READY of another life, with other numbers at each switch.
 *
 * Keys: what is sealed is proven anew on the way, since a seal is bound to an address. To the processes below
 * this switch is one that knows their keys, as the registry is (control/guard.h); to the switch above it is a
 * process with a key of that one's. So a process whose messages are sealed has its messages sealed all the
 * way, or is refused, and who lacks a key can be nobody who has one. It is fresh here before anything of it
 * goes up; its serial then was in no earlier message, so what was answered before that is known to be old.
 * The members of a job and this switch share a secret, which is not the one that this switch shares with the
 * switch above.
 *
 * Pure: no sockets, no clock (now in ns, monotonic), no malloc; memory is the caller's. The effects go out
 * through struct relay_actions, synchronously. One thread.
 */
#pragma once

#include "control/actions.h"
#include "control/registry.h"
#include "wire/seal.h"

/* A switch above. */
struct relay_uplink {
    uint32_t ip;                /* its address, network order */
    uint16_t data_port;         /* UDP port that this switch sends its sums from, host order */
    struct ctl_address us;      /* where its control messages to that one leave from */
    const struct keys_key *key; /* [keys], of a tenant's there: it seals with the first, and believes what is
                                   sealed with any of them. May change between two calls of the proxy */
    unsigned keys;              /* 0: what is sealed does not go on to it */
};

/* A job of which some ranks come by this switch, in one of its lives. */
struct relay_job {
    struct ctl_entry entry;     /* FORMING until all its ranks have READY, then RUNNING; or FAILED. Its
                                   members are by rank of the whole job, JOINED those that come by this
                                   switch; number is ours; terms are granted */
    unsigned uplink;            /* by which its sums go up */
    struct ctl_endpoint parent; /* the switch above, as its READY came */
    uint64_t parent_boot_id;
    uint8_t parent_number;     /* of the job, there */
    uint16_t parent_data_port; /* its first, host order */
    uint8_t parent_data_ports; /* slot i best goes to parent_data_port + i % this */
    struct ctl_above above;    /* what is above the parent */
    uint32_t lost_after_ms;    /* as the root says */
    uint64_t parent_heard_at;  /* ns */
    struct ctl_ranks bundle;   /* the ranks that come by this switch */
    uint16_t contributors;     /* since prepare: ranks and switches below that send contributions */
    uint16_t *contributor;     /* by rank, as in struct agg_node */
    bool refused;              /* FAILED: by this switch itself */
    uint8_t parent_secret[KEYS_SECRET_BYTES]; /* entry.keyed: what the switch above and this one share;
                                                 entry.secret is shared with those below. Not to be shown */
};

struct relay_actions {
    void *ctx;
    void (*send)(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    void (*send_up)(void *ctx, unsigned uplink, const uint8_t *payload, size_t bytes);
    /* As the registry's (control/actions.h), for the contributors of this switch and the switch above: fills
     * in *number. The terms are the root's: they cannot be lowered. Never CTL_LATER: it makes the pool, or
     * says no, at once. */
    int (*prepare)(void *ctx, const struct relay_job *job, uint8_t *number, char text[CTL_TEXT_MAX]);
    void (*release)(void *ctx, const struct relay_job *job);
    void (*event)(void *ctx, const struct ctl_entry *job, const struct ctl_event *event); /* may be NULL */
    /* RUNNING: this rank, or the switch above, speaks from another MAC address now; its endpoint has it
     * already. May be NULL. */
    void (*moved)(void *ctx, const struct relay_job *job, unsigned rank);
    void (*parent_moved)(void *ctx, const struct relay_job *job);
    /* A message of the switch above that is sealed, and no copy, came from here. May be NULL. */
    void (*proven)(void *ctx, unsigned uplink, const struct ctl_endpoint *from);
    /* Whether this process may be in a job of this name here: its tenant, or -1 and why not. key: the tenant
     * whose key it has, or CTL_NO_KEY. May lower the slots that it wishes for, to what there is room for,
     * unless it resumes. NULL: it may, and is tenant 0's. */
    int (*admit)(void *ctx, const struct ctl_endpoint *from, int key, const struct ctl_join *join,
                 struct agg_terms *wish, char text[CTL_TEXT_MAX]);
    /* As the registry's. NULL: there are no keys. */
    uint64_t (*random)(void *ctx);
    /* Of the longest UDP payload that gets to the switch above and to those below. 0: not known yet. */
    uint16_t (*payload_bytes)(void *ctx, unsigned uplink);
};

struct relay_config {
    const struct agg_protocol *const *protocols; /* outlives the proxy */
    unsigned protocols_known;
    const struct relay_uplink *uplink; /* outlives the proxy */
    unsigned uplinks;                  /* how many, at least 1 */
    uint16_t max_jobs;                 /* at least 1 */
    uint16_t max_workers;              /* of one job, in the whole tree; 0: CTL_RANKS_MAX */
    uint16_t max_processes;            /* below, of all jobs, that are remembered at once; at least 1 */
    uint64_t id;                       /* random, not 0 */
    uint32_t ip;                       /* of this switch, network order */
    uint64_t lost_after_ns; /* as the registry's: a process that is silent for twice as long and 10 s more is
                               forgotten here, without a word */
    uint8_t data_ports;     /* as the registry's */
    bool hears_nics;        /* as the registry's */
    const struct keys_library *library; /* NULL: there are no keys */
    const struct ctl_tenant_key *key;   /* [keys], of processes below; outlive the proxy */
    unsigned keys;
    struct relay_actions actions;
};

struct relay_proxy;

/* 0: out of range. */
size_t relay_footprint(const struct relay_config *cfg);
/* mem: relay_footprint(cfg) bytes, 8-byte aligned. */
struct relay_proxy *relay_init(void *mem, const struct relay_config *cfg);

/* Reads a UDP payload of a process below, or of a switch below: CTL_PARSED with *m, and from->key (0: it is
 * not sealed); or what is wrong with it. */
enum ctl_parse_error relay_read(const struct relay_proxy *p, struct ctl_message *m, struct ctl_endpoint *from,
                                const uint8_t *payload, size_t bytes);

/* The tenant whose key it is, or CTL_NO_KEY. */
int relay_key_owner(const struct relay_proxy *p, const struct ctl_endpoint *from);

/* Adds all processes below, and what the switch above says of them. */
void relay_list_processes(const struct relay_proxy *p, struct ctl_known *to);

/* Whether the message that relay_read has found there is of a process that is known here. */
bool relay_knows(const struct relay_proxy *p, const struct ctl_message *m, const struct ctl_endpoint *from);

/* A UDP payload that came to CTL_PORT: of a process that is known, or a JOIN of a job that belongs to this
 * uplink. Returns the result of parsing; anything but CTL_PARSED was ignored. */
enum ctl_parse_error relay_receive(struct relay_proxy *p, const struct ctl_endpoint *from, unsigned uplink,
                                   const uint8_t *payload, size_t bytes, uint64_t now);

/* A UDP payload that came from the switch above. */
enum ctl_parse_error relay_receive_up(struct relay_proxy *p, unsigned uplink, const struct ctl_endpoint *from,
                                      const uint8_t *payload, size_t bytes, uint64_t now);

/* Call now and then: forgets who is silent. */
void relay_tick(struct relay_proxy *p, uint64_t now);

/* This switch's operator ends the jobs that the tenant has of this name, for all their ranks; or lets them
 * come to their end: nobody else is let in here, members stay until they leave. A job that is not RUNNING yet
 * ends at once, too. False: there are none. */
bool relay_end(struct relay_proxy *p, int tenant, const char *name, uint64_t now);
bool relay_drain(struct relay_proxy *p, int tenant, const char *name, uint64_t now);

/* As ctl_registry_cut, for ranks that come by this switch. */
void relay_cut(struct relay_proxy *p, ctl_is_there *is_there, const void *ctx, const char *where,
               uint64_t now);

/* Whether somebody below has key i of the configuration. */
bool relay_has_key(const struct relay_proxy *p, unsigned i);

/* Whether a job is this tenant's, or a process below, whose job may have yet to begin. */
bool relay_has_tenant(const struct relay_proxy *p, int tenant);

/* tenant[t]: the number that tenant t has from now on, if relay_has_tenant(t); keys: how many keys there are
 * now. Those that somebody has are where they were. */
void relay_follow(struct relay_proxy *p, const int tenant[], unsigned keys);

/* For telemetry and tests: job i (0 <= i < max_jobs), which may be CTL_ENTRY_FREE. */
const struct relay_job *relay_job(const struct relay_proxy *p, unsigned i);
