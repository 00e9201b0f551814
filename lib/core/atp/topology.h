/* Where the ranks of an ATP job are, seen from its switches (ATP paper, sections 4.1 and 5.1): a rank sends
 * by the switch of its own rack, which is next to it, and by the one that is next to the parameter server.
 *
 * Ranks are cut into racks of per_rack, in their order. The parameter server may be in one of the racks, the
 * near one: then the two switches are the same, and the ranks of that rack count there one by one, beside
 * the other racks. Both numbers are agreed on when a job is joined; switches know nothing of them but what
 * each packet says.
 *
 * Pure and reentrant.
 */
#pragma once

#include "wire/atp.h"

enum { ATP_NOT_NEAR = 0xFF, ATP_MAX_WORKERS = 1024, ATP_RANK_WORDS = ATP_MAX_WORKERS / 64 };

struct atp_topology {
    uint16_t workers; /* 1..ATP_MAX_WORKERS */
    uint8_t per_rack; /* 1..ATP_LEVEL */
    uint8_t near;     /* the parameter server's rack; ATP_NOT_NEAR: none of them */
};

/* Whether the server's switch has bits for all of its children, and the near rack exists. */
bool atp_topology_fits(const struct atp_topology *t);

/* Fills in what a packet of this rank alone says: rack, child, fan-ins, bitmaps, EDGE. */
void atp_topology_fill(const struct atp_topology *t, uint16_t rank, struct atp_packet *p);

/* The ranks whose sum a gradient is: bit r % 64 of word r / 64. False: it names somebody whom the job does
 * not have, or a rank twice. */
bool atp_topology_ranks(const struct atp_topology *t, const struct atp_packet *p,
                        uint64_t ranks[ATP_RANK_WORDS]);
