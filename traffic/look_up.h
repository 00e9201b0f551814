/* Compressed calls in captures (switchml/elements.h): indices and sums, read one by one as docs/protocol.md
 * says how they are packed. They do not go through the core's loops, since they are to check them. */
#ifndef SWAGG_TRAFFIC_LOOK_UP_H
#define SWAGG_TRAFFIC_LOOK_UP_H

#include "switchml/elements.h"

/* Index i of a contribution with a code that looks up. */
unsigned look_up_index(uint8_t code, const uint8_t *elements, size_t i);

/* Sum i of a result. */
unsigned look_up_sum(uint8_t code, const uint8_t *elements, size_t i);

#endif
