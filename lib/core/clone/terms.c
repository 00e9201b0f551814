#include "clone/terms.h"

#include <assert.h>
#include <string.h>

#include "kernels/kernels.h"
#include "wire/bytes.h"

enum { HAS_COLLECTOR = 1, IS_LITTLE = 2 };

static_assert((int)CLN_TERMS_BYTES <= (int)AGG_TERMS_MAX, "they have room");

void cln_terms_build(struct agg_terms *out, const struct cln_terms *t)
{
    uint8_t *to = out->data;

    *out = (struct agg_terms){
        .protocol = AGG_PROTOCOL_CLONE, .version = CLN_TERMS_VERSION, .bytes = CLN_TERMS_BYTES};
    to[0] = t->code;
    to[1] = (uint8_t)((t->collector ? HAS_COLLECTOR : 0) | (t->layout.little ? IS_LITTLE : 0));
    put_be16(to + 2, t->slots);
    put_be16(to + 4, t->chunk_bytes);
    put_be32(to + 6, t->missing_after_ms);
    put_be16(to + 10, t->layout.sequence_at);
    put_be16(to + 12, t->layout.elements_at);
    put_be16(to + 14, t->layout.match_at);
    to[16] = t->layout.match_bytes;
    memcpy(to + 18, t->layout.match, CLN_MATCH_MAX);
    memcpy(to + 26, t->layout.host, sizeof(t->layout.host));
    put_be16(to + 32, t->layout.ether_type);
}

bool cln_terms_parse(struct cln_terms *t, const struct agg_terms *in)
{
    const uint8_t *from = in->data;

    if (in->protocol != AGG_PROTOCOL_CLONE || in->version != CLN_TERMS_VERSION ||
        in->bytes < CLN_TERMS_BYTES || in->bytes > AGG_TERMS_MAX)
        return false;
    *t = (struct cln_terms){.code = from[0],
                            .collector = from[1] & HAS_COLLECTOR,
                            .slots = get_be16(from + 2),
                            .chunk_bytes = get_be16(from + 4),
                            .missing_after_ms = get_be32(from + 6),
                            .layout = {.sequence_at = get_be16(from + 10),
                                       .little = from[1] & IS_LITTLE,
                                       .elements_at = get_be16(from + 12),
                                       .match_at = get_be16(from + 14),
                                       .match_bytes = from[16],
                                       .ether_type = get_be16(from + 32)}};
    memcpy(t->layout.match, from + 18, CLN_MATCH_MAX);
    memcpy(t->layout.host, from + 26, sizeof(t->layout.host));
    return true;
}

unsigned cln_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    struct cln_terms t;
    unsigned n = 0;

    if (!cln_terms_parse(&t, terms))
        return 0;
    list[n++] = (struct agg_term){.name = "operation", .word = agg_op_name(agg_code_op(t.code))};
    list[n++] = (struct agg_term){.name = "type", .word = agg_type_name(agg_code_type(t.code))};
    list[n++] = (struct agg_term){.name = "slots", .number = t.slots};
    list[n++] = (struct agg_term){.name = "chunk_bytes", .number = t.chunk_bytes};
    list[n++] = (struct agg_term){.name = "sequence_at", .number = t.layout.sequence_at};
    list[n++] = (struct agg_term){.name = "elements_at", .number = t.layout.elements_at};
    list[n++] = (struct agg_term){.name = "collector", .word = t.collector ? "yes" : "no"};
    return n;
}
