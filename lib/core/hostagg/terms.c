#include "hostagg/terms.h"

#include "wire/bytes.h"

void hag_terms_build(struct agg_terms *out, const struct hag_terms *t)
{
    *out = (struct agg_terms){
        .protocol = AGG_PROTOCOL_HOSTAGG, .version = HAG_TERMS_VERSION, .bytes = HAG_TERMS_BYTES};
    out->data[0] = (uint8_t)t->host;
    out->data[1] = t->code;
    put_be16(out->data + 2, t->slots);
    put_be16(out->data + 4, t->chunk_bytes);
}

bool hag_terms_parse(struct hag_terms *t, const struct agg_terms *in)
{
    if (in->protocol != AGG_PROTOCOL_HOSTAGG || in->version != HAG_TERMS_VERSION ||
        in->bytes < HAG_TERMS_BYTES || in->bytes > AGG_TERMS_MAX)
        return false;
    *t = (struct hag_terms){
        .host = in->data[0],
        .code = in->data[1],
        .slots = get_be16(in->data + 2),
        .chunk_bytes = get_be16(in->data + 4),
    };
    return true;
}

unsigned hag_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    static const char *const hosts[HAG_HOSTS] = {
        [HAG_HOST_ABSENT] = "absent", [HAG_HOST_HEARS] = "hears", [HAG_HOST_GETS_SUMS] = "gets_sums"};
    struct hag_terms t;
    unsigned n = 0;

    if (!hag_terms_parse(&t, terms) || t.host >= HAG_HOSTS)
        return 0;
    list[n++] = (struct agg_term){.name = "host", .word = hosts[t.host]};
    list[n++] = (struct agg_term){.name = "operation", .word = agg_op_name(agg_code_op(t.code))};
    list[n++] = (struct agg_term){.name = "type", .word = agg_type_name(agg_code_type(t.code))};
    list[n++] = (struct agg_term){.name = "slots", .number = t.slots};
    list[n++] = (struct agg_term){.name = "chunk_bytes", .number = t.chunk_bytes};
    return n;
}
