#include "plan.h"

#include <math.h>
#include <string.h>

#include "numbers/numbers.h"
#include "random/splitmix.h"
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

enum { TENSOR_DIGITS = 11, EXPONENT_RANGE = 13 }; /* all fits float16, too */

static uint32_t blocks_of(const struct plan *p)
{
    return plan_chunks(p) - p->slots;
}

static uint64_t state_of(const struct plan *p, unsigned worker, uint32_t block)
{
    return splitmix_mix(splitmix_hash(p->seed) ^ ((uint64_t)worker << 32 | block));
}

int8_t plan_tensor_exponent(const struct plan *p, unsigned worker, uint32_t block)
{
    return (int8_t)((int)(state_of(p, worker, block) % (2 * EXPONENT_RANGE + 1)) - EXPONENT_RANGE);
}

int8_t plan_tensor_agreed(const struct plan *p, uint32_t block)
{
    int8_t most = NUM_NO_BLOCK;

    for (unsigned w = 0; w < p->workers; w++) {
        const int8_t e = plan_tensor_exponent(p, w, block);

        most = e > most ? e : most;
    }
    return most;
}

/* The first element decides the exponent: it is at least half of 2^e. */
void plan_tensor_block(const struct plan *p, unsigned worker, uint32_t block, float *out)
{
    const int last = plan_tensor_exponent(p, worker, block) - TENSOR_DIGITS;
    uint64_t state = state_of(p, worker, block);

    for (unsigned i = 0; i < p->elements; i++) {
        const uint64_t random = splitmix_next(&state);
        const int magnitude = (int)(random % (1 << TENSOR_DIGITS)) | (i == 0 ? 1 << (TENSOR_DIGITS - 1) : 0);

        out[i] = ldexpf((float)(random >> 63 ? -magnitude : magnitude), last);
    }
}

static void write_numbers(const struct plan *p, unsigned worker, uint32_t block, uint8_t *body)
{
    const enum num_wire wire = p->format == XFER_FORMAT_INT32 ? NUM_INT32 : NUM_FP16;
    const struct num_loops *loops = num_loops_for(&agg_kernels_scalar);
    float tensor[SML_MAX_CHUNK_BYTES / 2];

    plan_tensor_block(p, worker, block, tensor);
    loops->out[wire][NUM_F32](body, tensor, p->elements,
                              num_scale(wire, p->workers, plan_tensor_agreed(p, block)).out);
}

/* Fills in the exponents and writes the body, whose length it returns. Packets of the published sizes are
 * filled up with zeros. */
static size_t tensor_body(const struct plan *p, unsigned worker, uint32_t chunk, struct sml_packet *s,
                          uint8_t *body)
{
    const int8_t e = chunk < blocks_of(p) ? plan_tensor_exponent(p, worker, chunk) : NUM_NO_BLOCK;

    s->e0 = s->e1 = (uint8_t)e;
    if (chunk >= p->slots)
        write_numbers(p, worker, chunk - p->slots, body);
    else if (s->size_code == SML_SIZE_AGREED)
        return 0;
    else
        memset(body, 0, body_bytes(p));
    return body_bytes(p);
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
        return tensor_body(p, worker, chunk, s, body);
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
