/* A switch below another: the real proxy and pools, and around them what the daemon does. Its ranks' hosts,
 * and the switches below it, are on cables of their own; so is its way up, whose end is a host of the star,
 * too. It can be killed and started again at any time; nothing of it survives. */
#pragma once

#include "nic.h"
#include "relay/proxy.h"
#include "star.h"
#include "switch_parts.h"
#include "tenancy.h"

enum { LEAF_JOBS = 16, LEAF_DATA_PORT = 0xBEF0 };

struct leaf_config {
    struct sim *sim;
    struct star *star;
    unsigned host;      /* this switch's place on the star, as the switch above sees it */
    uint32_t parent_ip; /* as the proxy is told */
    uint64_t lost_after_ns;
    const struct tenancy *tenancy; /* its ranks' keys are those of the switch above, too */
};

struct leaf_node {
    struct leaf_config cfg;
    uint64_t rng;
    uint64_t id; /* 0: it is down */
    uint64_t boots;
    const struct agg_protocol *protocol;
    struct relay_uplink uplink;
    struct ctl_tenant_key key[2]; /* the ranks' and the switches' below */
    unsigned keys;
    struct relay_proxy *proxy;
    struct agg_jobs running, above; /* by our numbers, by those of the switch above */
    struct numbered_jobs jobs;      /* struct leaf_job */
    struct nic_heard heard;
    uint64_t deceived; /* damaged packets that it did not drop */
};

void leaf_init(struct leaf_node *n, const struct leaf_config *cfg, uint64_t *rng);
void leaf_start(struct leaf_node *n);
void leaf_kill(struct leaf_node *n); /* also if it is down already */

/* Takes over a frame from a rank or switch below, or from the switch above. */
void leaf_receive(struct leaf_node *n, struct frame *f, bool from_above);

unsigned leaf_pools(const struct leaf_node *n);
