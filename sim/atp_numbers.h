/* What ranks contribute, and what must come out: small whole numbers, so that every order of adding gives the
 * same. Each call has a type and an operation of its own. */
#pragma once

#include "wire/switchml.h"

/* Of call `call` of a job: type, operation, allreduce or reduce, root; its number of elements up to most. */
struct xfer_call atp_numbers_call(uint64_t seed, unsigned call, unsigned workers, unsigned most,
                                  enum xfer_format format);

/* Fills in what a rank contributes. */
void atp_numbers_fill(const struct xfer_call *call, uint64_t seed, unsigned rank, void *in);

/* Whether this is the result of ranks 0 .. workers - 1; at[0]: else the first wrong element. */
bool atp_numbers_hold(const struct xfer_call *call, uint64_t seed, unsigned workers, enum xfer_format format,
                      const void *out, uint64_t *at);
