/* Compressed calls in captures (elements.h): indices and sums, read one by one as docs/protocol.md says how
 * they are packed. They do not go through the loops that add, since they are to check them. Pure. */
#pragma once

#include "switchml/elements.h"

/* Index i of a contribution with a code that looks up. */
unsigned sml_look_up_index(uint8_t code, const uint8_t *elements, size_t i);

/* Sum i of a result. */
unsigned sml_look_up_sum(uint8_t code, const uint8_t *elements, size_t i);
