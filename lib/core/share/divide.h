/* Divides something among several by weight, so that nobody gets more than he wants and what one leaves goes
 * to the others (weighted max-min fairness; Bertsekas and Gallager, "Data Networks", section 6.5.2).
 *
 * Pure. Any thread.
 */
#pragma once

#include <stdint.h>

struct share_claim {
    uint32_t weight; /* 1 .. 2^22; at most 1024 claims */
    uint32_t want;
    uint32_t get; /* share_divide's: at most want */
};

void share_divide(uint32_t total, struct share_claim claim[], unsigned n);
