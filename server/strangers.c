#include "strangers.h"

#include "wire/path.h"

void strangers_init(struct strangers *s, uint64_t seed)
{
    path_rate_init(&s->paths, seed);
    path_rate_init(&s->rejects, ~seed);
}

enum strangers_verdict strangers_answer(struct strangers *s, const struct agg_protocol *table,
                                        const struct agg_packet *p, uint64_t now,
                                        uint8_t answer[AGG_ANSWER_BYTES], size_t *bytes)
{
    if (path_is_question(p->payload, p->bytes)) {
        if (!path_rate_admit(&s->paths, p->from.ip, now))
            return STRANGERS_RATE;
        path_answer(p->payload, s->data_ports);
        *bytes = p->bytes;
        return STRANGERS_PATH;
    }
    *bytes = table->refuse == NULL ? 0 : table->refuse(p, s->boot_id, answer);
    if (*bytes == 0)
        return STRANGERS_SILENT;
    return path_rate_admit(&s->rejects, p->from.ip, now) ? STRANGERS_REJECT : STRANGERS_RATE;
}
