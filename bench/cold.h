/* What is in no cache. */
#pragma once

#include <stddef.h>

/* Out of every cache. */
void cold_put_out(const void *memory, size_t bytes);
