/* Packets of ATP in words. */
#include "protocol/words.h"
#include "atp/protocol.h"
#include "kernels/kernels.h"
#include "wire/atp.h"

static void append_flags(struct agg_line *l, uint8_t flags)
{
    static const char *const names[] = {"resend",   "collision", "congested", "edge",
                                        "by-group", "opening",   "scaled",    "direct"};

    for (unsigned i = 0; i < 8; i++)
        if (flags >> i & 1)
            agg_append(l, " %s", names[i]);
}

static void append_bits(struct agg_line *l, const char *what, uint64_t bits)
{
    if (bits == 0)
        return;
    agg_append(l, " %s", what);
    for (unsigned i = 0; i < ATP_LEVEL; i++)
        if (bits >> i & 1)
            agg_append(l, " %u", i);
}

/* Who is in a sum, and of how many. */
static void append_ranks(struct agg_line *l, const struct atp_packet *p)
{
    append_bits(l, "has", p->bitmap0);
    agg_append(l, " of %u in rack %u", p->fan_in0, p->rack);
    append_bits(l, "racks", p->bitmap1);
    if (p->fan_in1 > 1)
        agg_append(l, " of %u", p->fan_in1);
}

static void append_body(struct agg_line *l, const struct agg_words *how, const struct atp_packet *p,
                        const uint8_t *body, size_t bytes)
{
    const size_t call = p->flags & ATP_OPENING && bytes >= XFER_CALL_BYTES ? XFER_CALL_BYTES : 0;

    if (p->kind == ATP_GRADIENT || p->kind == ATP_ASK)
        append_ranks(l, p);
    if (p->kind == ATP_WAITING)
        agg_append_contributed(l, body, bytes);
    else if (p->kind != ATP_REJECT && p->kind != ATP_MISMATCH && bytes > call && !(p->flags & ATP_SCALED))
        agg_append_elements(l, how, p->code, body + call, bytes - call);
    else if (p->flags & ATP_SCALED)
        agg_append(l, " exponent %d, %zu bytes", p->exponent, bytes - call);
}

void atp_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes)
{
    static const char *const kinds[ATP_KINDS] = {[ATP_GRADIENT] = "GRADIENT", [ATP_PARAMETER] = "PARAMETER",
                                                 [ATP_WAITING] = "WAITING",   [ATP_MISMATCH] = "MISMATCH",
                                                 [ATP_REJECT] = "REJECT",     [ATP_GROUP] = "GROUP",
                                                 [ATP_RESTORE] = "RESTORE",   [ATP_ASK] = "ASK"};
    struct atp_packet p;

    if (atp_parse(&p, payload, bytes) != ATP_OK) {
        agg_append(l, "%zu bytes that are no packet of ATP", bytes);
        return;
    }
    agg_append(l, "%s job %u life %08x chunk %u aggregator %u%s", kinds[p.kind], p.job, p.life, p.sequence,
               p.index, xfer_checksum_mark(p.seal));
    if (p.kind == ATP_GROUP)
        agg_append(l, p.flags & ATP_HEARS ? " hears" : "");
    else
        append_flags(l, p.flags);
    append_body(l, how, &p, payload + ATP_HEADER_BYTES, atp_body_bytes(&p, bytes));
}
