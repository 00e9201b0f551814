#include "roce/terms.h"

#include "wire/bytes.h"

void rce_terms_build(struct agg_terms *out, const struct rce_terms *t)
{
    *out = (struct agg_terms){
        .protocol = AGG_PROTOCOL_ROCE, .version = RCE_TERMS_VERSION, .bytes = RCE_TERMS_BYTES};
    put_be16(out->data, t->queue_pairs);
    put_be16(out->data + 2, t->packet_bytes);
    put_be16(out->data + 4, t->packets);
}

bool rce_terms_parse(struct rce_terms *t, const struct agg_terms *in)
{
    if (in->protocol != AGG_PROTOCOL_ROCE || in->version != RCE_TERMS_VERSION ||
        in->bytes < RCE_TERMS_BYTES || in->bytes > AGG_TERMS_MAX)
        return false;
    *t = (struct rce_terms){.queue_pairs = get_be16(in->data),
                            .packet_bytes = get_be16(in->data + 2),
                            .packets = get_be16(in->data + 4)};
    return true;
}

unsigned rce_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    struct rce_terms t;
    unsigned n = 0;

    if (!rce_terms_parse(&t, terms))
        return 0;
    list[n++] = (struct agg_term){.name = "queue_pairs", .number = t.queue_pairs};
    list[n++] = (struct agg_term){.name = "packet_bytes", .number = t.packet_bytes};
    list[n++] = (struct agg_term){.name = "packets", .number = t.packets};
    return n;
}
