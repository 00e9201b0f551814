/* What the tests' switches share for packets of any protocol: making jobs from opaque terms, and carrying out
 * verdicts. No sockets, no clock; aborts if there is no memory. */
#pragma once

#include "control/registry.h"
#include "protocol/protocol.h"

/* Addresses in network order, the UDP port in host order. */
struct agg_sender carry_sender(const uint8_t mac[AGG_MAC_BYTES], uint32_t ip, uint16_t port);

/* Makes a job and publishes it under cfg->job, its members in the order of their ranks; f: what it takes, or
 * NULL. NULL: the terms are out of range. */
struct agg_job *carry_open(struct agg_jobs *jobs, const struct agg_protocol *protocol,
                           const struct agg_pool_config *cfg, const struct agg_sender members[],
                           struct agg_footprint *f);

/* The same of a job that has been joined, under the terms that it is granted. library: of the keys that
 * members may have. */
struct agg_job *carry_open_joined(struct agg_jobs *jobs, const struct ctl_entry *joined, uint8_t number,
                                  const struct agg_terms *terms, const struct keys_library *library,
                                  struct agg_footprint *f);

/* The same of a job in a tree of switches, as this one of its switches sees it: for the contributors among
 * those who have joined. parent: where packets from the switch above come from; NULL: there is none. */
struct agg_job *carry_open_tree(struct agg_jobs *jobs, const struct ctl_entry *joined, uint8_t number,
                                const struct agg_terms *terms, const struct keys_library *library,
                                const struct agg_node *tree, const struct agg_sender *parent,
                                struct agg_footprint *f);

/* Gives further threads of each member their seats, at the UDP ports that follow its own. */
void carry_seat_threads(struct agg_job *job, unsigned threads);

/* Takes the job out and frees it. The caller drains its pool before. */
void carry_close(struct agg_jobs *jobs, struct agg_job *job);

/* Something to send. */
enum carry_to { CARRY_TO_RANK, CARRY_TO_PARENT, CARRY_ONWARD };

struct carried {
    enum carry_to to;
    unsigned rank;
    const struct agg_sender *member; /* of this rank */
    const uint8_t *payload;
    size_t bytes;
    void *buffer;  /* kept by the pool, that payload lies in; NULL: in none */
    bool by_group; /* as one of the copies of a packet to the job's group */
};

/* In front of what a protocol has wrapped (agg_protocol.wrap) are as many zeros, in the place of IPv4's and
 * UDP's headers. */
enum { CARRY_HEADERS_BYTES = 20 + 8 };

/* answered: the packet; NULL: what time has brought about. */
typedef void carry_send_fn(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                           const struct carried *what);

/* Sends what the verdict says. */
void carry_out(const struct agg_job *job, const struct agg_packet *answered, const struct agg_verdict *v,
               carry_send_fn *send, void *ctx);
