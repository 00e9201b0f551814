#include "plan_tensor.h"

#include <math.h>
#include <string.h>

#include "numbers/numbers.h"
#include "random/splitmix.h"

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

size_t plan_tensor_body(const struct plan *p, unsigned worker, uint32_t chunk, struct sml_packet *s,
                        uint8_t *body)
{
    const size_t bytes = p->elements * agg_code_bytes(plan_code(p));
    const int8_t e = chunk < blocks_of(p) ? plan_tensor_exponent(p, worker, chunk) : NUM_NO_BLOCK;

    s->e0 = s->e1 = (uint8_t)e;
    if (chunk >= p->slots)
        write_numbers(p, worker, chunk - p->slots, body);
    else if (s->size_code == SML_SIZE_AGREED)
        return 0;
    else
        memset(body, 0, bytes);
    return bytes;
}
