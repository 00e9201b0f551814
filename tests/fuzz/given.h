/* A packet that is given to a pool, and faults in packets that are to be given. */
#pragma once

#include "fuzz.h"
#include "kernels/kernels.h"
#include "protocol/jobs.h"
#include "protocol/protocol.h"
#include "wire/switchml.h"

struct given {
    bool parses;
    struct sml_packet p; /* what it is, if it parses */
    uint8_t *buffer;     /* of its own: a use after it was released, or one that is forgotten, is the
                          * sanitizer's to find */
    struct agg_packet packet;
    struct agg_verdict v;
};

/* keeps: the pool may keep it. */
static inline struct given give(const struct agg_protocol *protocol, const struct agg_jobs *jobs,
                                struct agg_sender from, bool keeps, uint64_t now, const uint8_t *payload,
                                size_t bytes)
{
    struct given g = {.buffer = malloc(bytes + (bytes == 0))};
    g.parses = sml_parse(&g.p, payload, bytes) == SML_OK;
    if (bytes > 0)
        memcpy(g.buffer, payload, bytes);
    g.packet = (struct agg_packet){.payload = g.buffer, .bytes = bytes, .from = from};
    protocol->locate(jobs, &g.packet, 1);
    g.packet.buffer = keeps ? g.buffer : NULL;
    REQUIRE(protocol->apply(&g.packet, 1, now, &g.v) == 1);
    REQUIRE(g.v.reason == g.packet.reason && g.v.action == protocol->reason[g.v.reason].action);
    return g;
}

static inline void given_end(const struct given *g)
{
    free(g->v.released);
    if (!g->v.kept)
        free(g->buffer);
}

static inline void take_faults(struct input *in, uint8_t odd, struct sml_packet *p)
{
    if (odd & 2)
        p->e0 = take8(in);
    if (odd & 4)
        p->size_code = take8(in) & 15;
    if (odd & 8)
        p->slot = take8(in);
}

/* Whether a contribution is as long as the first one; where empty ones count, as those that have elements:
 * the first gets the length of the first that has any. skip: bytes before the elements. */
static inline bool has_its_length(struct sml_packet *first, const struct sml_packet *p, size_t skip,
                                  bool empties)
{
    if (p->body_bytes == first->body_bytes || !empties)
        return p->body_bytes == first->body_bytes;
    if (first->body_bytes == skip)
        first->body_bytes = p->body_bytes;
    else if (p->body_bytes != skip)
        return false;
    return agg_kernels_scalar.operations[p->e0].finish == NULL;
}
