/* The switch: the real registry and pools, and around them what the daemon's engine and registrar do. It can
 * be killed and started again at any time; nothing of it survives. */
#pragma once

#include "busy.h"
#include "control/registry.h"
#include "desk.h"
#include "nic.h"
#include "protocol/protocol.h"
#include "star.h"
#include "static_job.h"
#include "switch_parts.h"
#include "tenancy.h"

/* Of a job that never was. */
#define SWITCH_NOBODYS_ROSTER UINT64_C(0x57a26e7257a26e72)

struct switch_config {
    unsigned slots_max; /* of all jobs together */
    uint16_t max_jobs;
    uint16_t max_workers; /* of a job; 0: any */
    uint64_t lost_after_ns;
    /* The share of frames that a pool may keep; others count as referred to elsewhere. */
    uint32_t keep_ppm;
    bool paper;   /* data packets are the paper's switch's business (paper_protocol.h) */
    bool chip;    /* ... or that of the program for chips (chip_protocol.h) */
    bool lasting; /* it has a secret that outlives its restarts */
    bool refer;   /* to results in kept buffers, as where all ports send several segments; else copy them */
    uint64_t tick_ns;       /* how often jobs with a quorum are told the time; 0: there are none */
    uint64_t ns_per_kb;     /* of gradient packets, if it cannot keep up (busy.h); else 0 */
    uint64_t message_ns;    /* of a control message, if there may be more than it handles (desk.h); else 0 */
    struct tenancy tenancy; /* whose its jobs are */
    struct published_config fixed; /* a static job, if it has workers */
};

struct switch_node {
    struct switch_config cfg;
    struct sim *sim;
    struct star *star;
    uint64_t rng;
    uint64_t keeps;   /* which frames */
    uint64_t boot_id; /* 0: it is down */
    uint64_t boots;
    struct agg_protocol protocol;         /* all that comes to a data port */
    const struct agg_protocol *protocols; /* the only one */
    struct ctl_registry *registry;
    struct agg_jobs running;
    struct numbered_jobs jobs; /* struct switch_job */
    struct tenancy_slots slots;
    struct ctl_tenant tenants[TENANTS_MAX]; /* as the registry knows them */
    struct ctl_tenant_key keys[TENANTS_MAX + 1];
    unsigned keyed; /* how many there are */
    struct busy busy;
    struct desk desk;
    struct static_job fixed;
    struct ctl_lasting lasting;
    uint64_t reasons[AGG_MAX_REASONS]; /* on undamaged data packets, since the first start */
    struct nic_heard heard;
    uint64_t damaged, malformed; /* malformed: control messages */
    uint64_t deceived;           /* damaged or changed packets that it did not drop */
    uint64_t kept, referred;     /* buffers that a pool kept; frames that referred to one */
    uint64_t refused;            /* jobs and ranks, for want of room or by a quota */
    const char *broken;          /* the first rule of keeping.h, or of its own, that was broken; NULL: none */
};

void switch_init(struct switch_node *s, struct sim *sim, struct star *star, uint64_t *rng,
                 const struct switch_config *cfg);
void switch_start(struct switch_node *s);
void switch_kill(struct switch_node *s); /* also if it is down already */
static inline bool switch_is_up(const struct switch_node *s)
{
    return s->boot_id != 0;
}

/* A link_receiver. */
void switch_receive(void *ctx, struct frame *frame);

/* Jobs that the registry knows of, in whatever state. */
unsigned switch_jobs(const struct switch_node *s);
