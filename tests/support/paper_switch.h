/* The switch of the SwitchML paper (section 4.5, algorithm 3), line by line, with what the published program
 * does beside it: a sender is known by where its packet comes from, exponents are returned as their maxima.
 * It knows nothing but DATA, and of a packet it reads the version, the slot and the numbers; all else it
 * echoes.
 *
 * As the paper has it, a job of one worker never comes to an end, and a duplicate that is two phases late is
 * added to the wrong chunk: the links of a test must keep packets in order. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/switchml.h"

enum {
    PAPER_WORKERS = 8,
    PAPER_SLOTS = 64,
    PAPER_BYTES = 1024,
    PAPER_PACKET = SML_HEADER_BYTES + PAPER_BYTES
};

struct paper_switch {
    unsigned n;   /* workers */
    size_t bytes; /* of the elements of every packet: 128, 256, 512 or 1024 */
    uint32_t pool[2][PAPER_SLOTS][PAPER_BYTES / 4];
    int8_t exponent[2][PAPER_SLOTS][2];
    unsigned count[2][PAPER_SLOTS];
    bool seen[2][PAPER_SLOTS][PAPER_WORKERS];
    unsigned not_understood; /* packets that it could not read */
};

enum paper_action { PAPER_DROP, PAPER_MULTICAST, PAPER_UNICAST };

static inline int8_t paper_max(int8_t a, int8_t b)
{
    return a > b ? a : b;
}

/* pool = vector where this is the first, else pool += vector; the same of the exponents, with max. */
static inline void paper_add(struct paper_switch *s, const struct sml_packet *p, bool first)
{
    uint32_t *pool = s->pool[p->ver][p->slot];
    int8_t *e = s->exponent[p->ver][p->slot];

    for (size_t i = 0; i < s->bytes / 4; i++)
        pool[i] = (first ? 0 : pool[i]) + get_be32(p->body + 4 * i);
    e[0] = first ? (int8_t)p->e0 : paper_max(e[0], (int8_t)p->e0);
    e[1] = first ? (int8_t)p->e1 : paper_max(e[1], (int8_t)p->e1);
}

/* p.vector = pool */
static inline void paper_rewrite(const struct paper_switch *s, const struct sml_packet *p, uint8_t *packet)
{
    for (size_t i = 0; i < s->bytes / 4; i++)
        put_be32(packet + SML_HEADER_BYTES + 4 * i, s->pool[p->ver][p->slot][i]);
    packet[8] = (uint8_t)s->exponent[p->ver][p->slot][0];
    packet[9] = (uint8_t)s->exponent[p->ver][p->slot][1];
}

static inline bool paper_understands(const struct paper_switch *s, const struct sml_packet *p)
{
    return p->kind == SML_DATA && p->size_code <= SML_SIZE_256 && p->body_bytes == s->bytes &&
           p->slot < PAPER_SLOTS;
}

/* A packet of worker wid, which is rewritten where it is to be sent. */
static inline enum paper_action paper_switch_receive(struct paper_switch *s, unsigned wid, uint8_t *packet,
                                                     size_t bytes)
{
    struct sml_packet p;

    if (sml_parse(&p, packet, bytes) != SML_OK || !paper_understands(s, &p)) {
        s->not_understood++;
        return PAPER_DROP;
    }
    unsigned *count = &s->count[p.ver][p.slot];
    if (!s->seen[p.ver][p.slot][wid]) {
        s->seen[p.ver][p.slot][wid] = true;
        s->seen[!p.ver][p.slot][wid] = false;
        *count = (*count + 1) % s->n;
        paper_add(s, &p, *count == 1);
        if (*count != 0)
            return PAPER_DROP;
        paper_rewrite(s, &p, packet);
        return PAPER_MULTICAST;
    }
    if (*count != 0)
        return PAPER_DROP;
    paper_rewrite(s, &p, packet);
    return PAPER_UNICAST;
}
