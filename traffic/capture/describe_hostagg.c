#include "capture/describe.h"
#include "elements.h"
#include "wire/bytes.h"
#include "wire/hostagg.h"

static void append_body(struct line *l, const struct describe *how, const struct hag_packet *p)
{
    switch (p->kind) {
    case HAG_GRADIENT:
    case HAG_SUM:
        describe_elements(l, how, how->hostagg_code, p->body, p->body_bytes);
        break;
    case HAG_WAITING:
        describe_contributed(l, p->body, p->body_bytes);
        break;
    case HAG_DIFFERS:
        if (p->body_bytes == HAG_DIFFERS_BYTES)
            append(l, " worker %u sent %u bytes", get_be16(p->body), get_be16(p->body + 2));
        break;
    default:
        break;
    }
}

void describe_hostagg(struct line *l, const struct describe *how, const uint8_t *payload, size_t bytes)
{
    static const char *const kinds[] = {
        [HAG_GRADIENT] = "GRADIENT", [HAG_ASK] = "ASK",         [HAG_SUM] = "SUM",
        [HAG_DONE] = "DONE",         [HAG_WAITING] = "WAITING", [HAG_DIFFERS] = "DIFFERS"};
    struct hag_packet p;

    if (!hag_parse(&p, payload, bytes)) {
        append(l, "%zu bytes that are no packet of host-addressed aggregation", bytes);
        return;
    }
    append(l, "%s job %u", kinds[p.kind], p.job);
    if (p.worker != HAG_EVERYBODY)
        append(l, " worker %u", p.worker);
    append(l, " run %u chunk %u", p.run, p.sequence);
    append_body(l, how, &p);
}
