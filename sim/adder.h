/* A switch that is one pool and nothing else: what arrives is summed at once, and sums leave on the links to
 * the workers. */
#pragma once

#include "link.h"
#include "switchml/pool.h"

struct adder {
    struct sml_pool *pool;
    unsigned workers;
    struct link **down; /* [workers]; the caller fills them in, whose they are */
    uint16_t filler;    /* of frames with sums */
};

void adder_open(struct adder *a, const struct sml_pool_config *cfg, uint16_t filler);
void adder_close(struct adder *a);

/* A link_receiver, with an adder for its context; frame->host is the sender's rank. */
void adder_receive(void *adder, struct frame *f);
