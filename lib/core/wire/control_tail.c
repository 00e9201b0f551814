#include "wire/control_tail.h"

#include <string.h>

#include "wire/bytes.h"

enum {
    ABOVE_LEVELS = 0,
    ABOVE_NUMBERS = 1,
    ABOVE_BYTES = ABOVE_NUMBERS + CTL_LEVELS_MAX - 1,

    JOIN_HOPS = ABOVE_BYTES,
    JOIN_HOST = JOIN_HOPS + 4,
    JOIN_VIA = JOIN_HOST + 4,
    JOIN_TAIL_BYTES = JOIN_VIA + 4,

    READY_WORDS = ABOVE_BYTES,
    READY_BUNDLE = READY_WORDS + 8,
};

static void build_above(uint8_t *b, const struct ctl_above *a)
{
    b[ABOVE_LEVELS] = a->levels;
    memcpy(b + ABOVE_NUMBERS, a->number, sizeof a->number);
}

/* a is zero already. More levels than there can be are as good as none. */
static void parse_above(struct ctl_above *a, const uint8_t *b)
{
    a->levels = b[ABOVE_LEVELS] < CTL_LEVELS_MAX ? b[ABOVE_LEVELS] : 0;
    memcpy(a->number, b + ABOVE_NUMBERS, a->levels);
}

/* As few as hold the ranks. */
static unsigned bundle_words(const struct ctl_ready *r)
{
    unsigned words = CTL_RANK_WORDS;
    while (words > 0 && r->bundle.word[words - 1] == 0)
        words--;
    return words;
}

size_t ctl_tail_bytes(const struct ctl_message *m)
{
    if (m->head.type == CTL_JOIN)
        return m->join.hops > 0 || m->join.above.levels > 0 ? JOIN_TAIL_BYTES : 0;
    if (m->head.type != CTL_READY)
        return 0;
    const unsigned words = bundle_words(&m->ready);
    return m->ready.above.levels > 0 || words > 0 ? READY_BUNDLE + 8 * words : 0;
}

void ctl_tail_build(uint8_t *out, const struct ctl_message *m)
{
    if (m->head.type == CTL_JOIN) {
        build_above(out, &m->join.above);
        out[JOIN_HOPS] = m->join.hops;
        memcpy(out + JOIN_HOST, &m->join.host, sizeof m->join.host);
        memcpy(out + JOIN_VIA, &m->join.via, sizeof m->join.via);
        return;
    }
    const unsigned words = bundle_words(&m->ready);
    build_above(out, &m->ready.above);
    out[READY_WORDS] = (uint8_t)words;
    for (unsigned i = 0; i < words; i++)
        put_be64(out + READY_BUNDLE + 8 * i, m->ready.bundle.word[i]);
}

static void parse_join_tail(struct ctl_join *j, const uint8_t *tail)
{
    parse_above(&j->above, tail);
    j->hops = tail[JOIN_HOPS];
    if (j->hops > 0) {
        memcpy(&j->host, tail + JOIN_HOST, sizeof j->host);
        memcpy(&j->via, tail + JOIN_VIA, sizeof j->via);
    }
}

void ctl_tail_parse(struct ctl_message *m, const uint8_t *tail, size_t bytes)
{
    if (m->head.type == CTL_JOIN && bytes >= JOIN_TAIL_BYTES)
        parse_join_tail(&m->join, tail);
    if (m->head.type != CTL_READY || bytes < READY_BUNDLE)
        return;
    parse_above(&m->ready.above, tail);
    for (unsigned i = 0; i < tail[READY_WORDS] && i < CTL_RANK_WORDS && bytes >= READY_BUNDLE + 8 * (i + 1);
         i++)
        m->ready.bundle.word[i] = get_be64(tail + READY_BUNDLE + 8 * i);
}
