#include "aggregate/strangers.h"

#include <rte_cycles.h>

#include "wire/path.h"

enum {
    ANSWERS_AT_ONCE = 64,
    ANSWERS_A_SECOND = 10000,
};

/* What nobody vouches for is answered at a rate that cannot be exceeded, whoever asks. */
static bool may_answer(struct allowance *a, uint64_t now)
{
    uint64_t interval = rte_get_tsc_hz() / ANSWERS_A_SECOND, earned = (now - a->at) / interval;

    if (earned > 0) {
        a->credit = RTE_MIN(a->credit + earned, (uint64_t)ANSWERS_AT_ONCE);
        a->at = now;
    }
    if (a->credit == 0)
        return false;
    a->credit--;
    return true;
}

static void reject(struct strangers *s, const struct agg_protocol *protocol, const struct agg_packet *p,
                   const struct rte_mbuf *m, uint64_t now)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    const size_t bytes = protocol->refuse == NULL ? 0 : protocol->refuse(p, s->boot_id, answer);

    count_drop(s->counters, m->port, drop_kind(protocol->id, p->reason), 1);
    if (bytes > 0 && may_answer(&s->rejects, now))
        egress_back(s->egress, m, answer, bytes, EVENT_REJECTS);
}

static void answer_path_probe(struct strangers *s, const struct agg_packet *p, const struct rte_mbuf *m,
                              uint64_t now)
{
    if (!may_answer(&s->path_answers, now)) {
        count_drop(s->counters, m->port, DROP_PATH_RATE, 1);
        return;
    }
    path_answer(p->payload, s->data_ports);
    egress_back(s->egress, m, p->payload, p->bytes, EVENT_PATH_ANSWERS);
}

void strangers_refuse(struct strangers *s, const struct agg_protocol *protocol, const struct agg_packet *p,
                      const struct rte_mbuf *m, uint64_t now)
{
    if (path_is_question(p->payload, p->bytes))
        answer_path_probe(s, p, m, now);
    else
        reject(s, protocol, p, m, now);
}
