#include "aggregate/strangers.h"

#include "wire/path.h"

/* Whoever sends what is rejected: 10,000 a second. Times are in ns. */
static const struct share_rate reject_rate = {.burst = 64, .each = 100000};

void strangers_init(struct strangers *s, uint64_t seed)
{
    path_rate_init(&s->paths, seed);
}

static void reject(struct strangers *s, const struct agg_protocol *protocol, const struct agg_packet *p,
                   const struct rte_mbuf *m, uint64_t now)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    const size_t bytes = protocol->refuse == NULL ? 0 : protocol->refuse(p, s->boot_id, answer);

    count_drop(s->counters, m->port, drop_kind(protocol->id, p->reason), 1);
    if (bytes > 0 && share_take(&s->rejects, &reject_rate, 1, now))
        egress_back(s->egress, m, answer, bytes, EVENT_REJECTS);
}

static void answer_path_probe(struct strangers *s, const struct agg_packet *p, const struct rte_mbuf *m,
                              uint64_t now)
{
    if (!path_rate_admit(&s->paths, p->from.ip, now)) {
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
