/* What the workers of a job send: the plan of a capture. Pure.
 *
 * Chunk by chunk, every worker's contribution to chunk c, then every worker's to chunk c + 1, and so on. A
 * switch that sees them in this order can complete each chunk at once, so nobody has to wait for results: a
 * capture of it can be replayed blindly. After an even number of phases (a phase is one chunk a slot) slot
 * and version of the first chunk come up again, so the replay may start over, in a job whose chunk numbers
 * repeat likewise (docs/configuration.md, `replay`).
 *
 * Where packets have exponents these are made up, too: each worker's are others, so that the switch has a
 * maximum to find. A plan with a tensor has real ones instead, SwitchML's numbers (docs/protocol.md,
 * "SwitchML's numbers"): all its chunks are one tensor, and packet i carries the numbers of block i - slots
 * and the exponent of block i, as far as there are such blocks.
 */
#pragma once

#include "elements.h"
#include "udp.h"
#include "wire/switchml.h"

struct plan {
    unsigned workers;  /* n, 1..AGG_MAX_WORKERS */
    unsigned slots;    /* s, a power of two */
    unsigned phases;   /* even */
    unsigned elements; /* k, in each packet */
    enum xfer_format format;
    unsigned type, op; /* enum agg_type, agg_op: of the elements as they travel */
    bool tensor;       /* the elements are a tensor of floats, scaled, and the exponents its own */
    uint8_t job;
    uint32_t first_tag; /* a multiple of 2 * slots */
    uint64_t seed;      /* of the elements */
    struct udp_end sw;  /* the switch */
    /* worker 0; the others count on from its MAC and IP, or from its port if they share a host */
    struct udp_end worker;
    bool one_host;
};

/* What is wrong with the plan; NULL: nothing. */
const char *plan_fault(const struct plan *p);

static inline uint8_t plan_code(const struct plan *p)
{
    return agg_code(p->type, p->op);
}

/* How many elements fit into a frame of this length on the wire, the 4 bytes of the frame check sequence
 * included. */
unsigned plan_elements_for_frame(const struct plan *p, unsigned frame_bytes);

static inline uint32_t plan_chunks(const struct plan *p)
{
    return p->slots * p->phases;
}

struct udp_end plan_worker(const struct plan *p, unsigned worker);

/* Writes worker's frame for chunk 0 .. plan_chunks - 1; UDP_FRAME_MAX bytes of room. Returns its length. */
size_t plan_frame(const struct plan *p, unsigned worker, uint32_t chunk, uint8_t *out);

/* Of a plan with a tensor: a worker's block of it, p->elements floats that are exact in 16 bits, too. */
void plan_tensor_block(const struct plan *p, unsigned worker, uint32_t block, float *out);

/* Its exponent, and the largest of all workers'. */
int8_t plan_tensor_exponent(const struct plan *p, unsigned worker, uint32_t block);
int8_t plan_tensor_agreed(const struct plan *p, uint32_t block);
