/* What workers send of a tensor of floats where packets have exponents: SwitchML's numbers (docs/protocol.md,
 * "SwitchML's numbers"). All chunks of the plan are one tensor: packet i carries the numbers of block
 * i - slots and the exponent of block i, as far as there are such blocks. Pure. */
#ifndef SWAGG_TRAFFIC_PLAN_TENSOR_H
#define SWAGG_TRAFFIC_PLAN_TENSOR_H

#include "plan.h"

/* Fills in the exponents and writes the body, whose length it returns. Packets of the published sizes are
 * filled up with zeros. */
size_t plan_tensor_body(const struct plan *p, unsigned worker, uint32_t chunk, struct sml_packet *s,
                        uint8_t *body);

/* A worker's block of the tensor: p->elements floats that are exact in 16 bits, too. */
void plan_tensor_block(const struct plan *p, unsigned worker, uint32_t block, float *out);

/* Its exponent, and the largest of all workers'. */
int8_t plan_tensor_exponent(const struct plan *p, unsigned worker, uint32_t block);
int8_t plan_tensor_agreed(const struct plan *p, uint32_t block);

#endif
