#include "terms.h"

#include <stdio.h>

#include "switchml/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"

static bool check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX])
{
    struct sml_terms t;

    if (!sml_terms_check(wish, resumes, why) || !sml_terms_parse(&t, wish))
        return false;
    if (t.format == XFER_FORMAT_INT32 && t.checksum == XFER_CHECKSUM_NONE && !resumes)
        return true;
    snprintf(
        why, AGG_TEXT_MAX,
        resumes
            ? "this switch cannot resume a job"
            : "this switch adds int32 with exponents only: set options.numbers, or SWAGG_NUMBERS, to int32");
    return false;
}

/* As if every rank had wished for published packets only. */
static bool grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                  struct agg_terms *granted, struct agg_refusal *why)
{
    struct agg_terms plain[TOFINO_MAX_WORKERS];

    if (n > TOFINO_MAX_WORKERS) {
        *why = (struct agg_refusal){.rank = UINT16_MAX};
        snprintf(why->text, sizeof(why->text), "%u ranks: a job on this switch has at most %d", n,
                 TOFINO_MAX_WORKERS);
        return false;
    }
    for (uint16_t rank = 0; rank < n; rank++) {
        struct sml_terms t;

        if (sml_terms_parse(&t, &wish[rank])) {
            t.plain = true;
            sml_terms_build(&plain[rank], &t);
        } else {
            plain[rank] = wish[rank]; /* refused there */
        }
    }
    return sml_terms_grant(plain, n, limits, granted, why);
}

const struct agg_protocol tofino_protocol = {
    .name = "switchml",
    .id = AGG_PROTOCOL_SWITCHML,
    .reason = sml_reasons,
    .reasons = SML_REASONS,
    .udp_ports = {.first = SML_PORT_FIRST, .last = SML_PORT_LAST},
    .header_bytes = SML_HEADER_BYTES,
    .check = check,
    .differ = sml_terms_differ,
    .grant = grant,
    .lower = sml_terms_lower,
    .list = sml_terms_list,
};
