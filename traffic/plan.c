#include "plan.h"

#include "plan_tensor.h"
#include "transfer/blocks.h"
#include "wire/bytes.h"

enum { FRAME_CHECK_BYTES = 4, HEADERS_BYTES = UDP_HEADERS_BYTES + SML_HEADER_BYTES };

static bool is_power_of_two(unsigned x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

static size_t body_bytes(const struct plan *p)
{
    return p->elements * agg_code_bytes(plan_code(p));
}

/* Of what does not depend on the number of elements. */
static const char *element_fault(const struct plan *p)
{
    const bool is_float = p->type >= AGG_F16 || p->type == AGG_F32 || p->type == AGG_F64;

    if (agg_code_bytes(plan_code(p)) == 0)
        return "there is no such operation on this type (docs/protocol.md, \"Elements\")";
    if (xfer_has_exponents(p->format) && plan_code(p) != xfer_elements_code(p->format, 0))
        return p->format == XFER_FORMAT_INT32 ? "in the format int32 elements are int32, to be summed"
                                              : "in the format fp16 elements are float16, to be summed";
    if (p->tensor && !xfer_has_exponents(p->format))
        return "only in the formats int32 and fp16 a tensor is scaled";
    if (p->op == AGG_PROD && is_float && p->workers > PRODUCT_WORKERS_MAX)
        return "products of floats have 12 workers at most: of more they are not exact";
    return NULL;
}

const char *plan_fault(const struct plan *p)
{
    if (p->workers < 1 || p->workers > AGG_MAX_WORKERS)
        return "there must be 1 to 1024 workers";
    if (!is_power_of_two(p->slots) || p->slots > SML_MAX_SLOTS)
        return "the number of slots must be a power of two, at most 16384";
    if (p->phases < 2 || p->phases % 2 != 0)
        return "the number of phases must be even: otherwise a second pass would begin with the wrong "
               "versions";
    if ((uint64_t)p->slots * p->phases > UINT32_MAX)
        return "slots times phases are more chunks than there are chunk numbers";
    if (p->first_tag % (2 * p->slots) != 0)
        return "the first chunk number must be a multiple of twice the number of slots";
    if (p->elements < 1 || body_bytes(p) > SML_MAX_CHUNK_BYTES)
        return "a packet must have at least 1 element and at most 8960 bytes of them";
    return element_fault(p);
}

/* Whole words, since a job's chunks are. */
unsigned plan_elements_for_frame(const struct plan *p, unsigned frame_bytes)
{
    const unsigned around = HEADERS_BYTES + FRAME_CHECK_BYTES;
    const unsigned room = frame_bytes > around ? (frame_bytes - around) / 4 * 4 : 0;

    return room / (unsigned)agg_code_bytes(plan_code(p));
}

struct udp_end plan_worker(const struct plan *p, unsigned worker)
{
    struct udp_end e = p->worker;

    if (p->one_host) {
        e.port = (uint16_t)(e.port + worker);
    } else {
        put_be32(e.mac + 2, get_be32(e.mac + 2) + worker);
        e.ip += worker;
    }
    return e;
}

/* In the published format it says how many elements there are, if it can. */
static uint8_t size_code(const struct plan *p)
{
    return p->format == XFER_FORMAT_INT32 ? sml_size_code(body_bytes(p)) : SML_SIZE_AGREED;
}

/* Bytes 8 and 9. */
static void element_code(const struct plan *p, unsigned worker, uint32_t tag, struct sml_packet *s)
{
    if (!xfer_has_exponents(p->format)) {
        s->e0 = plan_code(p);
        s->e1 = SML_FLAG_WANT;
    } else {
        s->e0 = (uint8_t)(int8_t)((tag + worker) % 7 - 3);
        s->e1 = 0;
    }
}

/* Writes the body behind the header; returns its length. */
static size_t write_body(const struct plan *p, unsigned worker, uint32_t chunk, struct sml_packet *s,
                         uint8_t *body)
{
    if (p->tensor)
        return plan_tensor_body(p, worker, chunk, s, body);
    element_code(p, worker, s->tag, s);
    elements_invent(plan_code(p), p->seed, worker, s->tag, body, p->elements);
    return body_bytes(p);
}

size_t plan_frame(const struct plan *p, unsigned worker, uint32_t chunk, uint8_t *out)
{
    const uint32_t tag = p->first_tag + chunk;
    const struct udp_end from = plan_worker(p, worker);
    uint8_t *payload = out + UDP_HEADERS_BYTES;
    struct sml_packet s = {
        .kind = SML_DATA,
        .size_code = size_code(p),
        .job = p->job,
        .ver = sml_tag_ver(tag, p->slots),
        .slot = sml_tag_slot(tag, p->slots),
        .tag = tag,
    };
    const size_t bytes = write_body(p, worker, chunk, &s, payload + SML_HEADER_BYTES);

    sml_build_header(payload, &s);
    return udp_build(out, &from, &p->sw, payload, SML_HEADER_BYTES + bytes);
}
