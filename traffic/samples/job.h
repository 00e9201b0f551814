/* What a worker and the host must know of a host-addressed job: the same for all, and as in the switch's
 * configuration. Their arrays are of float32, which are added. */
#pragma once

#include "command_line.h"
#include "kernels/kernels.h"

struct job_options {
    unsigned job, workers, slots, elements; /* as in the configuration */
    unsigned run, floats, arrays;
    double timeout_s; /* without progress */
    const char *json; /* NULL: none */
};

enum { JOB_FLOATS_MAX = 1 << 28 };

#define JOB_DEFAULTS                                                                                         \
    {                                                                                                        \
        .workers = 2, .slots = 64, .elements = 365, .run = 1, .floats = 1000000, .arrays = 1,                \
        .timeout_s = 60                                                                                      \
    }

extern const struct option_row job_option_rows[];
extern const size_t job_option_count;

/* The time after which to ask, in ms, a double: at least one, for who asks again at once never rests. */
option_reader option_ask_after;

/* Whether the options go together; if not, complains. */
bool job_options_check(const struct job_options *o);

static inline uint8_t job_code(void)
{
    return agg_code(AGG_F32, AGG_SUM);
}

static inline uint16_t job_chunk_bytes(const struct job_options *o)
{
    return (uint16_t)(o->elements * sizeof(float));
}

/* Of an array. */
static inline uint32_t job_chunks(const struct job_options *o)
{
    return (o->floats + o->elements - 1) / o->elements;
}
