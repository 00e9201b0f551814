#include "atp/terms.h"
#include "wire/bytes.h"

void atp_switch_terms_build(struct agg_terms *out, const struct atp_switch_terms *t)
{
    *out = (struct agg_terms){.protocol = AGG_PROTOCOL_ATP_SWITCH,
                              .version = ATP_SWITCH_TERMS_VERSION,
                              .bytes = ATP_SWITCH_TERMS_BYTES};
    put_be32(out->data, t->aggregators);
    put_be16(out->data + 4, t->chunk_bytes);
    out->data[6] = t->preempt;
    put_be64(out->data + 8, t->max_age_ns);
    put_be16(out->data + 16, t->parts);
    put_be32(out->data + 18, t->forward_ppm);
    put_be64(out->data + 22, t->seed);
}

bool atp_switch_terms_parse(struct atp_switch_terms *t, const struct agg_terms *in)
{
    if (in->protocol != AGG_PROTOCOL_ATP_SWITCH || in->version != ATP_SWITCH_TERMS_VERSION ||
        in->bytes < ATP_SWITCH_TERMS_BYTES || in->bytes > AGG_TERMS_MAX)
        return false;
    *t = (struct atp_switch_terms){
        .aggregators = get_be32(in->data),
        .chunk_bytes = get_be16(in->data + 4),
        .preempt = in->data[6] != 0,
        .max_age_ns = get_be64(in->data + 8),
        .parts = get_be16(in->data + 16),
        .forward_ppm = get_be32(in->data + 18),
        .seed = get_be64(in->data + 22),
    };
    return true;
}

unsigned atp_switch_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    struct atp_switch_terms t;
    unsigned n = 0;

    if (!atp_switch_terms_parse(&t, terms))
        return 0;
    list[n++] = (struct agg_term){.name = "aggregators", .number = t.aggregators};
    list[n++] = (struct agg_term){.name = "chunk_bytes", .number = t.chunk_bytes};
    list[n++] = (struct agg_term){.name = "max_age_ms", .number = (uint32_t)(t.max_age_ns / 1000000)};
    list[n++] = (struct agg_term){.name = "preempt", .word = t.preempt ? "true" : "false"};
    list[n++] = (struct agg_term){.name = "parts", .number = t.parts};
    list[n++] = (struct agg_term){.name = "forward_ppm", .number = t.forward_ppm};
    return n;
}
