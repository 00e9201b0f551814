#include "plan.h"

#include "elements.h"
#include "wire/bytes.h"

enum { FRAME_CHECK_BYTES = 4, HEADERS_BYTES = UDP_HEADERS_BYTES + SML_HEADER_BYTES };

static bool is_power_of_two(unsigned x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

static size_t body_bytes(const struct plan *p)
{
    return p->elements * element_type(p->type)->bytes;
}

const char *plan_fault(const struct plan *p)
{
    if (element_type(p->type) == NULL)
        return "the type must be int32, int64, float32 or float64";
    if (p->format == SML_FORMAT_INT32 && p->type != AGG_I32)
        return "the published format has int32 elements only";
    if (p->workers < 1 || p->workers > SML_MAX_WORKERS)
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
    return NULL;
}

unsigned plan_elements_for_frame(const struct plan *p, unsigned frame_bytes)
{
    const unsigned around = HEADERS_BYTES + FRAME_CHECK_BYTES;

    return frame_bytes > around ? (frame_bytes - around) / (unsigned)element_type(p->type)->bytes : 0;
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

/* In the published format the size code says how many elements there are, if it can. */
static uint8_t size_code(const struct plan *p)
{
    if (p->format == SML_FORMAT_INT32) {
        for (uint8_t code = SML_SIZE_32; code <= SML_SIZE_256; code++) {
            if (32u << code == p->elements)
                return code;
        }
    }
    return SML_SIZE_AGREED;
}

/* Published: exponents, which differ from worker to worker, so that the switch has a maximum to find. */
static void element_code(const struct plan *p, unsigned worker, uint32_t tag, struct sml_packet *s)
{
    if (p->format == SML_FORMAT_INT32) {
        s->e0 = (uint8_t)(int8_t)((tag + worker) % 7 - 3);
        s->e1 = 0;
    } else {
        s->e0 = (uint8_t)(AGG_SUM << 4 | p->type);
        s->e1 = SML_FLAG_WANT;
    }
}

size_t plan_frame(const struct plan *p, unsigned worker, uint32_t chunk, uint8_t *out)
{
    const uint32_t tag = p->first_tag + chunk;
    const size_t element = element_type(p->type)->bytes;
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

    element_code(p, worker, tag, &s);
    sml_build_header(payload, &s);
    for (unsigned i = 0; i < p->elements; i++)
        element_write(p->type, payload + SML_HEADER_BYTES + i * element,
                      element_invent(p->type, p->seed, worker, tag, i));
    return udp_build(out, &from, &p->sw, payload, SML_HEADER_BYTES + body_bytes(p));
}
