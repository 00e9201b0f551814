/* A configuration as a file of which reading makes the same one again: what is set as lines, what is not as
 * comments with the defaults. Pure but for the stream; any thread, while the configuration does not change.
 */
#pragma once

#include <stdio.h>

#include "settings/settings.h"

/* bytes: of the configuration. 0, or -ENOMEM: only a part is written. */
int settings_write(FILE *to, const struct setting *table, const void *configuration, size_t bytes);
