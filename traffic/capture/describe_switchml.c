#include <inttypes.h>

#include "capture/describe.h"
#include "elements.h"
#include "numbers/numbers.h"
#include "transfer/blocks.h"
#include "wire/bytes.h"
#include "wire/path.h"
#include "wire/switchml.h"

static void append_compressed(struct line *l, const struct xfer_call *c)
{
    append(l, "allreduce %u: %" PRIu64 " numbers%s, compressed to %u bits", c->seq,
           sml_numbers(c->count, c->root), c->root & SML_MEANS ? " (avg)" : "", sml_index_bits(c->type));
}

static void append_call(struct line *l, const struct xfer_call *c)
{
    if (c->collective == XFER_ALLREDUCE && c->op == SML_LOOK_UP) {
        append_compressed(l, c);
        return;
    }
    if (c->collective == XFER_NORMS) {
        append(l, "norms %u: of %" PRIu64 " blocks to be compressed", c->seq, c->count);
        return;
    }
    append(l, "%s %u: %" PRIu64 " x %s", c->collective == XFER_REDUCE ? "reduce" : "allreduce", c->seq,
           c->count, agg_type_name(c->type));
    if (c->op != AGG_SUM)
        append(l, " (%s)", agg_op_name(c->op));
    if (c->collective == XFER_REDUCE)
        append(l, " to rank %u", c->root);
}

/* The exponents of the chunk that comes `slots` packets later; those of the elements came as much earlier. */
static void append_exponents(struct line *l, const struct sml_packet *p)
{
    const int e0 = (int8_t)p->e0;

    append(l, " exponents %d %d", e0, (int8_t)p->e1);
    if (e0 == NUM_NO_BLOCK)
        append(l, " (none)");
    if (e0 == NUM_NOT_FINITE)
        append(l, " (not finite)");
}

/* Contributions to a compressed call, which ask for the sum, or sums. */
static void append_looked_up(struct line *l, const struct describe *how, const struct sml_packet *p,
                             size_t call_bytes)
{
    const uint8_t code = p->e0, *elements = p->body + call_bytes;
    const bool sums = p->kind == SML_RESTORE || !(p->e1 & SML_FLAG_WANT) || p->e1 & SML_FLAG_SUMS;
    const struct sml_element e = sml_element_of(code);
    const size_t count = e.in == 0 ? 0 : (p->body_bytes - call_bytes) / (sums ? e.out : e.in) * SML_GROUP;

    append(l, sums ? " %zu sums of %u bits" : " %zu indices of %u bits", count,
           sums ? sml_sum_bits(code) : sml_index_bits(code));
    for (size_t i = 0; i < count && i < how->elements; i++)
        append(l, "%s%u", i == 0 ? ": " : " ",
               sums ? look_up_sum(code, elements, i) : look_up_index(code, elements, i));
    if (count > how->elements && how->elements > 0)
        append(l, " ...");
}

/* What DATA, OPEN and RESTORE carry. */
static void append_data(struct line *l, const struct describe *how, const struct sml_packet *p)
{
    const enum xfer_format format = how->format[p->job];
    const bool scaled = xfer_has_exponents(format);
    const bool restored = p->kind == SML_RESTORE && !scaled && p->e1 & SML_FLAG_OPENING;
    const bool opening = p->kind == SML_OPEN || restored;
    const size_t call_bytes = opening && p->body_bytes >= XFER_CALL_BYTES ? XFER_CALL_BYTES : 0;
    struct xfer_call call;

    if (call_bytes > 0 && xfer_parse_call(&call, p->body, p->body_bytes)) {
        append(l, " (");
        append_call(l, &call);
        append(l, ")");
    }
    if (scaled)
        append_exponents(l, p);
    if (scaled && p->body_bytes == 0)
        append(l, " only");
    else if (!scaled && sml_looks_up(p->e0) && sml_element_of(p->e0).in != 0)
        append_looked_up(l, how, p, call_bytes);
    else
        describe_elements(l, how, xfer_elements_code(format, p->e0), p->body + call_bytes,
                          p->body_bytes - call_bytes);
}

static void append_mismatch(struct line *l, const struct sml_packet *p)
{
    struct xfer_mismatch m;

    if (!xfer_parse_mismatch(&m, p->body, p->body_bytes))
        return;
    append(l, " rank %u, tag %u (", m.your_rank, m.your_tag);
    append_call(l, &m.yours);
    append(l, ") against rank %u, tag %u (", m.peer_rank, m.peer_tag);
    append_call(l, &m.peers);
    append(l, ")");
}

/* What is no gradient packet may be a path probe, which comes to the same ports. */
static void append_path_probe(struct line *l, const uint8_t *payload, size_t bytes)
{
    struct path_answer answer;

    if (path_is_question(payload, bytes))
        append(l, "path probe of %zu bytes", bytes);
    else if (path_parse_answer(&answer, payload, bytes))
        append(l, "answer to a path probe of %zu bytes, data ports %u", bytes, answer.data_ports);
    else
        append(l, "malformed gradient packet of %zu bytes", bytes);
}

const char *describe_trailer(unsigned checksum)
{
    static const char *const words[] = {
        [XFER_CHECKSUM_NONE] = "", [XFER_CHECKSUM_CRC32C] = " CRC32C", [XFER_CHECKSUM_KEYED] = " keyed"};

    return words[checksum];
}

void describe_switchml(struct line *l, const struct describe *how, const uint8_t *payload, size_t bytes)
{
    static const char *const kinds[] = {
        [SML_DATA] = "DATA", [SML_OPEN] = "OPEN",         [SML_PROBE] = "PROBE",   [SML_NACK] = "NACK",
        [SML_WAIT] = "WAIT", [SML_MISMATCH] = "MISMATCH", [SML_REJECT] = "REJECT", [SML_RESTORE] = "RESTORE",
        [SML_ASK] = "ASK",   [SML_LATE] = "LATE"};
    struct sml_packet p;

    if (sml_parse(&p, payload, bytes) != SML_OK) {
        append_path_probe(l, payload, bytes);
        return;
    }
    append(l, "%s job %u tag %u slot %u.%u%s", kinds[p.kind], p.job, p.tag, p.slot, p.ver,
           describe_trailer(p.checksum));
    switch (p.kind) {
    case SML_DATA:
    case SML_OPEN:
    case SML_RESTORE:
        append_data(l, how, &p);
        break;
    case SML_WAIT:
    case SML_ASK:
        describe_contributed(l, p.body, p.body_bytes);
        break;
    case SML_MISMATCH:
        append_mismatch(l, &p);
        break;
    case SML_LATE:
        append(l, " slot collects tag %u", get_be32(p.body));
        break;
    case SML_REJECT:
        if (p.body_bytes >= 8)
            append(l, " boot id %016" PRIx64, get_be64(p.body));
        break;
    }
}
