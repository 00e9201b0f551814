/* What bench-core measures of arithmetic alone, everything in the L1 cache: each operation on each type in
 * nanoseconds a KiB, beside memcpy and a bare loop that adds f32; and SwitchML's numbers in nanoseconds a
 * float, beside memcpy. */
#pragma once

/* Writes all of it to standard output, as JSON. */
void operations_write(void);
