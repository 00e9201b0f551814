/* Collectives and quarrels about them, in words. */
#ifndef SWAGG_CLIENT_DESCRIBE_H
#define SWAGG_CLIENT_DESCRIBE_H

#include "wire/switchml.h"

enum { DESCRIBE_CALL_MAX = 96, DESCRIBE_MISMATCH_MAX = 256 };

/* "allreduce of 1000 f32 (sum)", "reduce of 2000 f64 (sum) to rank 0" */
const char *describe_call(const struct sml_call *call, char text[DESCRIBE_CALL_MAX]);

/* "rank 1 called allreduce ..., rank 0 called reduce ..." */
const char *describe_mismatch(const struct sml_mismatch *m, char text[DESCRIBE_MISMATCH_MAX]);

#endif
