/* Packets of SwitchML in words. */
#include <inttypes.h>

#include "numbers/numbers.h"
#include "protocol/words.h"
#include "switchml/protocol.h"
#include "switchml/words.h"
#include "transfer/blocks.h"
#include "transfer/parts.h"
#include "wire/bytes.h"

/* `bits` bits of each index, from a plane whose bytes hold 8 / bits of them, far apart. */
static unsigned in_plane(const uint8_t *plane, unsigned bits, size_t i)
{
    const size_t bytes = SML_GROUP / 8 * bits;

    return plane[i % bytes] >> bits * (i / bytes) & ((1u << bits) - 1);
}

unsigned sml_look_up_index(uint8_t code, const uint8_t *elements, size_t i)
{
    const unsigned bits = sml_index_bits(code), low_bits = bits == 4 ? 4 : bits / 2 * 2;
    const uint8_t *group = elements + i / SML_GROUP * sml_element_of(code).in;
    const unsigned low = low_bits > 0 ? in_plane(group, low_bits, i % SML_GROUP) : 0;

    return low_bits == bits ? low
                            : low | in_plane(group + SML_GROUP / 8 * low_bits, 1, i % SML_GROUP) << low_bits;
}

unsigned sml_look_up_sum(uint8_t code, const uint8_t *elements, size_t i)
{
    return sml_sum_bits(code) == 8 ? elements[i] : elements[2 * i] | (unsigned)elements[2 * i + 1] << 8;
}

static void append_compressed(struct agg_line *l, const struct xfer_call *c)
{
    agg_append(l, "allreduce %u: %" PRIu64 " numbers%s, compressed to %u bits", c->seq,
               sml_numbers(c->count, c->root), c->root & SML_MEANS ? " (avg)" : "", sml_index_bits(c->type));
}

static void append_call(struct agg_line *l, const struct xfer_call *c)
{
    if (c->collective == XFER_ALLREDUCE && c->op == SML_LOOK_UP) {
        append_compressed(l, c);
        return;
    }
    if (c->collective == XFER_NORMS) {
        agg_append(l, "norms %u: of %" PRIu64 " blocks to be compressed", c->seq, c->count);
        return;
    }
    const char *root = xfer_collective_root(c->collective);

    agg_append(l, "%s %u", xfer_collective_name(c->collective), c->seq);
    if (xfer_copies(c->collective))
        agg_append(l, ": %" PRIu64 " bytes", c->count);
    else if (c->collective != XFER_BARRIER)
        agg_append(l, ": %" PRIu64 " x %s", c->count, agg_type_name(c->type));
    if (!xfer_copies(c->collective) && c->collective != XFER_BARRIER && c->op != AGG_SUM)
        agg_append(l, " (%s)", agg_op_name(c->op));
    if (root != NULL)
        agg_append(l, " %s %u", root, c->root);
}

/* The exponents of the chunk that comes `slots` packets later; those of the elements came as much earlier. */
static void append_exponents(struct agg_line *l, const struct sml_packet *p)
{
    const int e0 = (int8_t)p->e0;

    agg_append(l, " exponents %d %d", e0, (int8_t)p->e1);
    if (e0 == NUM_NO_BLOCK)
        agg_append(l, " (none)");
    if (e0 == NUM_NOT_FINITE)
        agg_append(l, " (not finite)");
}

/* Contributions to a compressed call, which ask for the sum, or sums. */
static void append_looked_up(struct agg_line *l, const struct agg_words *how, const struct sml_packet *p,
                             size_t call_bytes)
{
    const uint8_t code = p->e0, *elements = p->body + call_bytes;
    const bool sums = p->kind == SML_RESTORE || !(p->e1 & SML_FLAG_WANT) || p->e1 & SML_FLAG_SUMS;
    const struct sml_element e = sml_element_of(code);
    const size_t count = e.in == 0 ? 0 : (p->body_bytes - call_bytes) / (sums ? e.out : e.in) * SML_GROUP;

    agg_append(l, sums ? " %zu sums of %u bits" : " %zu indices of %u bits", count,
               sums ? sml_sum_bits(code) : sml_index_bits(code));
    for (size_t i = 0; i < count && i < how->elements; i++)
        agg_append(l, "%s%u", i == 0 ? ": " : " ",
                   sums ? sml_look_up_sum(code, elements, i) : sml_look_up_index(code, elements, i));
    if (count > how->elements && how->elements > 0)
        agg_append(l, " ...");
}

/* As the switch was heard to grant, or as the user says. */
static enum xfer_format format_of(const struct agg_words *how, uint8_t job)
{
    struct sml_terms t;

    return sml_terms_parse(&t, &how->granted[AGG_PROTOCOL_SWITCHML][job]) && t.format < XFER_FORMATS
               ? t.format
               : how->format;
}

/* What DATA, OPEN and RESTORE carry. */
static void append_data(struct agg_line *l, const struct agg_words *how, const struct sml_packet *p)
{
    const enum xfer_format format = format_of(how, p->job);
    const bool scaled = xfer_has_exponents(format);
    const bool restored = p->kind == SML_RESTORE && !scaled && p->e1 & SML_FLAG_OPENING;
    const bool opening = p->kind == SML_OPEN || restored;
    const size_t call_bytes = opening && p->body_bytes >= XFER_CALL_BYTES ? XFER_CALL_BYTES : 0;
    struct xfer_call call;

    if (call_bytes > 0 && xfer_parse_call(&call, p->body, p->body_bytes)) {
        agg_append(l, " (");
        append_call(l, &call);
        agg_append(l, ")");
    }
    if (scaled)
        append_exponents(l, p);
    if (scaled && p->body_bytes == 0)
        agg_append(l, " only");
    else if (!scaled && sml_looks_up(p->e0) && sml_element_of(p->e0).in != 0)
        append_looked_up(l, how, p, call_bytes);
    else
        agg_append_elements(l, how, xfer_elements_code(format, p->e0), p->body + call_bytes,
                            p->body_bytes - call_bytes);
}

static void append_mismatch(struct agg_line *l, const struct sml_packet *p)
{
    struct xfer_mismatch m;

    if (!xfer_parse_mismatch(&m, p->body, p->body_bytes))
        return;
    agg_append(l, " rank %u, tag %u (", m.your_rank, m.your_tag);
    append_call(l, &m.yours);
    agg_append(l, ") against rank %u, tag %u (", m.peer_rank, m.peer_tag);
    append_call(l, &m.peers);
    agg_append(l, ")");
}

void sml_protocol_describe(struct agg_line *l, const struct agg_words *how, const uint8_t *payload,
                           size_t bytes)
{
    static const char *const kinds[] = {
        [SML_DATA] = "DATA", [SML_OPEN] = "OPEN",         [SML_PROBE] = "PROBE",   [SML_NACK] = "NACK",
        [SML_WAIT] = "WAIT", [SML_MISMATCH] = "MISMATCH", [SML_REJECT] = "REJECT", [SML_RESTORE] = "RESTORE",
        [SML_ASK] = "ASK",   [SML_LATE] = "LATE"};
    struct sml_packet p;

    if (sml_parse(&p, payload, bytes) != SML_OK) {
        agg_append(l, "malformed gradient packet of %zu bytes", bytes);
        return;
    }
    agg_append(l, "%s job %u tag %u slot %u.%u%s", kinds[p.kind], p.job, p.tag, p.slot, p.ver,
               xfer_checksum_mark(p.checksum));
    switch (p.kind) {
    case SML_DATA:
    case SML_OPEN:
    case SML_RESTORE:
        append_data(l, how, &p);
        break;
    case SML_WAIT:
    case SML_ASK:
        agg_append_contributed(l, p.body, p.body_bytes);
        break;
    case SML_MISMATCH:
        append_mismatch(l, &p);
        break;
    case SML_LATE:
        agg_append(l, " slot collects tag %u", get_be32(p.body));
        break;
    case SML_REJECT:
        if (p.body_bytes >= 8)
            agg_append(l, " boot id %016" PRIx64, get_be64(p.body));
        break;
    }
}
