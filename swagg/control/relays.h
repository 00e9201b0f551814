/* Jobs that go on to a switch above: the relay's proxy (lib/core/relay/proxy.h) in the daemon. Part of the
 * registrar, which tells messages apart and has the lock that all here is under. Threads: the main lcore's,
 * but for relays_job.
 */
#ifndef SWAGG_CONTROL_RELAYS_H
#define SWAGG_CONTROL_RELAYS_H

#include "control/pools.h"
#include "control/uplinks.h"
#include "registry/keyring.h"

struct relays;

/* All parts outlive it. */
struct relays_parts {
    const struct config *cfg;
    struct uplinks *uplinks;
    const struct pools *pools;
    const struct agg_protocol *const *protocols;
    unsigned protocols_known;
    uint8_t data_ports;
    const struct keyring *keys;
    /* the registry's, for what both do alike: ctx, send, event, tenant_of, is_taken */
    struct ctl_registry_actions shared;
};

/* NULL: no memory. The configuration has at least one uplink. */
struct relays *relays_open(const struct relays_parts *parts);
void relays_close(struct relays *r);

/* As relay_list_processes. r may be NULL, as below. */
void relays_list(const struct relays *r, struct ctl_known *to);

/* Handles a message of a worker's, or of a switch below, that is about a job which goes on to a switch above.
 * False: it is not, or there is something wrong with it. */
bool relays_receive(struct relays *r, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                    uint64_t now);

/* Handles a control message from the parent of this uplink. */
enum ctl_parse_error relays_receive_up(struct relays *r, unsigned uplink, const struct ctl_endpoint *from,
                                       const uint8_t *payload, size_t bytes, uint64_t now);

void relays_tick(struct relays *r, uint64_t now);

/* As in relay/proxy.h. */
bool relays_end(struct relays *r, int tenant, const char *name, uint64_t now);
bool relays_drain(struct relays *r, int tenant, const char *name, uint64_t now);
void relays_cut(struct relays *r, ctl_is_there *is_there, const void *context, const char *where,
                uint64_t now);
bool relays_have_key(const struct relays *r, unsigned i);    /* r may be NULL */
bool relays_have_tenant(const struct relays *r, int tenant); /* r may be NULL */

/* The configuration and the keyring are others now. */
void relays_follow(struct relays *r, const int tenant[]);

/* Job i, which may be CTL_ENTRY_FREE; NULL: there are no more. r may be NULL. Any thread that has the lock.
 */
const struct relay_job *relays_job(const struct relays *r, unsigned i);

#endif
