/* The order of a job's running chunk numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* a comes before b: serial number arithmetic, RFC 1982. */
static inline bool tag_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}
