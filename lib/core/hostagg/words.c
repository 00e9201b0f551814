/* Packets of host-addressed aggregation in words. They do not say what their elements are. */
#include "protocol/words.h"
#include "hostagg/protocol.h"
#include "kernels/kernels.h"
#include "wire/bytes.h"
#include "wire/hostagg.h"

static void append_body(struct agg_line *l, const struct agg_words *how, const struct hag_packet *p)
{
    switch (p->kind) {
    case HAG_GRADIENT:
    case HAG_SUM:
        agg_append_elements(l, how, agg_code(AGG_F32, AGG_SUM), p->body, p->body_bytes);
        break;
    case HAG_WAITING:
        agg_append_contributed(l, p->body, p->body_bytes);
        break;
    case HAG_DIFFERS:
        if (p->body_bytes == HAG_DIFFERS_BYTES)
            agg_append(l, " worker %u sent %u bytes", get_be16(p->body), get_be16(p->body + 2));
        break;
    default:
        break;
    }
}

void hag_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes)
{
    static const char *const kinds[] = {
        [HAG_GRADIENT] = "GRADIENT", [HAG_ASK] = "ASK",         [HAG_SUM] = "SUM",
        [HAG_DONE] = "DONE",         [HAG_WAITING] = "WAITING", [HAG_DIFFERS] = "DIFFERS"};
    struct hag_packet p;

    if (!hag_parse(&p, payload, bytes)) {
        agg_append(l, "%zu bytes that are no packet of host-addressed aggregation", bytes);
        return;
    }
    agg_append(l, "%s job %u", kinds[p.kind], p.job);
    if (p.worker != HAG_EVERYBODY)
        agg_append(l, " worker %u", p.worker);
    agg_append(l, " run %u chunk %u", p.run, p.sequence);
    append_body(l, how, &p);
}
