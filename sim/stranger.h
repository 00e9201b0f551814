/* A sender that is in no job, on a host of its choice. It joins jobs of the programs' names, under their
 * terms and under others, and jobs of its own, or says of them that they ran before, where the switch can
 * tell; sends from ports that belong to a rank now, as a late copy of an earlier owner's JOIN would come; and
 * claims to be in jobs with an unknown incarnation. */
#pragma once

#include "scenario.h"
#include "star.h"

struct stranger_config {
    struct sim *sim;
    struct star *star;
    const struct scenario *scenario;
    const struct switch_node *node;
    uint64_t seed;
    /* Whether it may send now: in a benign scenario it does not take entries before all jobs have theirs. */
    bool (*may_speak)(void *ctx);
    /* The UDP port that the process on this host uses for control; 0: none runs there. */
    uint16_t (*control_port)(void *ctx, unsigned host);
    /* The boot id that this host is shown by the switch that it is at. */
    uint64_t (*boot_id)(void *ctx, unsigned host);
    void *ctx;
};

struct stranger {
    struct stranger_config cfg;
    uint64_t rng;
    uint64_t messages;
    bool gone; /* sent away, by its owner */
};

/* Speaks from now until the scenario is calm, if the scenario has one, or it is sent away. */
void stranger_start(struct stranger *s, const struct stranger_config *cfg);
