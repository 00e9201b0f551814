/* A network for ATP: hosts at the ends of cables, one or two levels of switches between them, which add or
 * are plain bridges. Everything about a host but its packets is the owner's. */
#pragma once

#include "atp/terms.h"
#include "link.h"
#include "protocol/protocol.h"

enum {
    ATP_NET_HOSTS = 160,
    ATP_NET_RACKS = 4, /* switches, besides the one next to the servers */
    ATP_NET_PAYLOAD = 2048,
    ATP_NET_ALL = 0xffff, /* as receiver: every host */
    ATP_NET_PORT = 7,     /* every host's UDP port; not in network order */
};

/* Takes a packet that has come to this host; it may be written to during the call. One to all is noted as
 * such (struct agg_protocol, note_group). Where a packet ends with something of its own, UDP has no checksum:
 * a damaged one may come, also with another port than its sender's. */
typedef void atp_net_receive(void *ctx, unsigned host, const struct agg_sender *from, uint8_t *payload,
                             size_t bytes);

struct atp_net_switch {
    struct agg_jobs jobs;
    struct agg_job job; /* pool NULL: it adds nothing */
    struct agg_pool_config cfg;
    struct link up, down; /* to and from the switch next to the servers */
    uint64_t reasons[AGG_MAX_REASONS];
};

struct atp_net_host {
    unsigned at; /* switch */
    bool deaf;   /* to what is sent to all */
    struct link up, down;
};

/* One end of a link, as its receiver. */
struct atp_net_end {
    struct atp_net *net;
    bool host;
    unsigned number;
};

struct atp_net_config {
    unsigned hosts, racks; /* racks 0: all hosts are at the one switch */
    struct atp_switch_terms table;
    bool adds[1 + ATP_NET_RACKS]; /* the switch next to the servers, the racks' */
    struct link_quality cable;
    bool senders_wait; /* what a host sends waits in the host itself as long as need be, unmarked */
    uint16_t filler;   /* bytes that packets with elements take on the wire besides */
    uint64_t nap_every, nap_most; /* of hosts (struct link_quality) */
};

struct atp_net {
    struct sim *sim;
    struct atp_net_config cfg;
    struct atp_net_switch switches[1 + ATP_NET_RACKS];
    struct atp_net_host hosts[ATP_NET_HOSTS];
    struct atp_net_end switch_ends[1 + ATP_NET_RACKS], host_ends[ATP_NET_HOSTS];
    atp_net_receive *receive;
    void (*overhear)(void *ctx, unsigned from, unsigned to, const uint8_t *payload, size_t bytes);
    void *ctx;
    uint64_t frames, lost, marked, to_all;
};

/* at: each host's switch, 0 the one next to the servers. */
void atp_net_init(struct atp_net *net, struct sim *sim, const struct atp_net_config *cfg, const unsigned at[],
                  uint64_t *rng, atp_net_receive *receive, void *ctx);
void atp_net_fini(struct atp_net *net);

void atp_net_send(struct atp_net *net, unsigned from, unsigned to, const uint8_t *payload, size_t bytes);

/* The same by a host in another's name. */
void atp_net_forge(struct atp_net *net, unsigned forger, unsigned from, unsigned to, const uint8_t *payload,
                   size_t bytes);

/* A switch forgets everything. */
void atp_net_restart(struct atp_net *net, unsigned i);

/* Time passes for the tables. */
void atp_net_tick(struct atp_net *net);

/* Aggregators that are taken, in all switches. */
unsigned atp_net_taken(const struct atp_net *net);

/* Where a packet of this host comes from, and the other way round. */
struct agg_sender atp_net_sender(unsigned host);
unsigned atp_net_host(const struct agg_sender *sender);
