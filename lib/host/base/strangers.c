#include "base/strangers.h"

#include "wire/path.h"

/* All together: 10,000 a second. Times are in ns. */
static const struct share_rate answer_rate = {.burst = 64, .each = 100000};

/* One address: a quarter of them. */
static const struct throttle_rate asker_rate = {.burst = 16, .per_second = 2500};

static bool admit(struct strangers_rate *r, uint32_t asker, uint64_t now)
{
    return throttle_admit(&r->askers, asker, now) && share_take(&r->answers, &answer_rate, 1, now);
}

void strangers_init(struct strangers *s, uint64_t seed)
{
    throttle_init(&s->paths.askers, asker_rate, seed);
    throttle_init(&s->rejects.askers, asker_rate, ~seed);
}

enum strangers_verdict strangers_answer(struct strangers *s, const struct agg_protocol *table,
                                        const struct agg_packet *p, uint64_t now,
                                        uint8_t answer[AGG_ANSWER_BYTES], size_t *bytes)
{
    if (path_is_question(p->payload, p->bytes)) {
        if (!admit(&s->paths, p->from.ip, now))
            return STRANGERS_PATH_RATE;
        path_answer(p->payload, s->data_ports);
        *bytes = p->bytes;
        return STRANGERS_PATH;
    }
    *bytes = table == NULL || table->refuse == NULL ? 0 : table->refuse(p, s->boot_id, answer);
    if (*bytes == 0)
        return STRANGERS_SILENT;
    return admit(&s->rejects, p->from.ip, now) ? STRANGERS_REJECT : STRANGERS_REJECT_RATE;
}
