/* Jobs that go on to a switch above: the relay's proxy (lib/core/relay/proxy.h) beside the registry, which
 * tells messages apart. Part of registry_host.h: all is under its lock, and its thread's, but for relays_job,
 * which any may call that has the lock. relays may be NULL: all jobs have their root here.
 */
#ifndef SWAGG_REGISTRY_REGISTRY_RELAYS_H
#define SWAGG_REGISTRY_REGISTRY_RELAYS_H

#include "relay/proxy.h"

struct relays;
struct registry_host;

/* NULL, after logging: no memory. h is open; its configuration has at least one uplink. */
struct relays *relays_open(struct registry_host *h);
void relays_close(struct relays *r);

/* As relay_list_processes. */
void relays_list(const struct relays *r, struct ctl_known *to);

/* Handles a message of a worker's, or of a switch below, that is about a job which goes on to a switch above.
 * False: it is not, or there is something wrong with it. */
bool relays_receive(struct relays *r, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                    uint64_t now);

/* Handles a control message from the parent of this uplink. Not NULL. */
enum ctl_parse_error relays_receive_up(struct relays *r, unsigned uplink, const struct ctl_endpoint *from,
                                       const uint8_t *payload, size_t bytes, uint64_t now);

/* As in relay/proxy.h. */
void relays_tick(struct relays *r, uint64_t now);
bool relays_end(struct relays *r, int tenant, const char *name, uint64_t now);
bool relays_drain(struct relays *r, int tenant, const char *name, uint64_t now);
void relays_cut(struct relays *r, ctl_is_there *is_there, const void *context, const char *where,
                uint64_t now);
bool relays_have_key(const struct relays *r, unsigned i);
bool relays_have_tenant(const struct relays *r, int tenant);

/* The configuration and the keyring are others now. */
void relays_follow(struct relays *r, const int tenant[]);

/* Job i, which may be CTL_ENTRY_FREE; NULL: there are no more. */
const struct relay_job *relays_job(const struct relays *r, unsigned i);

#endif
