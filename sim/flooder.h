/* Somebody behind the port that all hosts share, who sends control messages several times as fast as the
 * switch handles them (desk.h): as a member of a job of his own, as one who is in none, or under any
 * addresses at all. He hears no answers. */
#pragma once

#include "scenario.h"

struct flooder_config {
    struct sim *sim;
    const struct scenario *scenario;
    struct switch_node *node;
    uint64_t seed;
    /* Whether he may send now: in a benign scenario he waits until all jobs have their places. */
    bool (*may_speak)(void *ctx);
    void *ctx;
};

struct flooder {
    struct flooder_config cfg;
    uint64_t rng, incarnation;
    uint32_t serial;
    uint64_t messages;
    bool gone; /* sent away, by its owner */
};

/* Floods from now until the scenario is calm, if it has one, or he is sent away. */
void flooder_start(struct flooder *f, const struct flooder_config *cfg);
