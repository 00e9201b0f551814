/* What was measured, from one run to the next: the file that SWAGG_CHOICES names where rank 0 runs (kept.h).
 * It is read before the roll call, which gives it to all ranks. */
#pragma once

#include "env.h"
#include "kept.h"

/* In MPI_Init, before the roll call: what this rank's file has for these settings, packed; "" if there is
 * none. */
void choices_read(const struct settings *s, char packed[KEPT_PACKED_MAX]);

/* On rank 0, when messages may go out: what came of that. */
void choices_tell(const char *file);

/* On rank 0, in MPI_Finalize: keeps what this run has measured. What fails is reported. */
void choices_write(const char *file, const struct choices *c);
