#include "control/uplink_path.h"

#include "monotonic.h"
#include "protocol/terms.h"
#include "wire/path.h"

enum { ROUND_MS = 100, SLOW_ROUND_MS = 1000, QUICK_ROUNDS = 30, REST_MS = 60000 };

static void begin_search(struct uplink_path *p)
{
    p->lengths = (struct path_lengths){0};
    p->before = p->round;
    path_lengths_add(&p->lengths, p->longest, p->longest - AGG_IP_UDP_BYTES);
    for (unsigned i = 0; i < PATH_USUAL_MTUS; i++)
        if (path_usual_mtus[i] <= p->longest)
            path_lengths_add(&p->lengths, path_usual_mtus[i], path_usual_mtus[i] - AGG_IP_UDP_BYTES);
}

/* Rounds since this one. */
static uint16_t age(const struct uplink_path *p, uint16_t round)
{
    return (uint16_t)(p->round - round);
}

void uplink_path_init(struct uplink_path *p, uint16_t longest, uint16_t nonce)
{
    *p = (struct uplink_path){.longest = longest, .nonce = nonce};
    begin_search(p);
}

void uplink_path_ask(struct uplink_path *p, uint64_t now, struct path_questions *q)
{
    unsigned last;

    q->n = 0;
    if (now < p->next_round)
        return;
    p->round++;
    p->next_round = now + (age(p, p->before) < QUICK_ROUNDS ? ROUND_MS : SLOW_ROUND_MS) * NS_PER_MS;
    q->tag = (uint32_t)p->nonce << 16 | p->round;
    last = path_lengths_last(&p->lengths);
    if (age(p, p->before) == 1) /* nearly always enough */
        last = p->lengths.first;
    for (unsigned size = p->lengths.first; size <= last; size++)
        q->bytes[q->n++] = p->lengths.size[size].bytes;
}

bool uplink_path_answer(struct uplink_path *p, const uint8_t *payload, size_t bytes, uint64_t now)
{
    struct path_answer a;

    if (!path_parse_answer(&a, payload, bytes) || a.tag >> 16 != p->nonce)
        return false;
    if (age(p, (uint16_t)a.tag) >= age(p, p->before)) /* to an earlier search, which is over */
        return true;
    path_lengths_answered(&p->lengths, bytes, (uint16_t)a.tag);
    if (path_lengths_are_settled(&p->lengths)) {
        __atomic_store_n(&p->mtu, (uint16_t)p->lengths.size[p->lengths.best].mtu, __ATOMIC_RELAXED);
        begin_search(p);
        p->next_round = now + REST_MS * NS_PER_MS;
    }
    return true;
}
