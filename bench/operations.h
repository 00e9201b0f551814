/* bench-core's table of operations: nanoseconds a KiB of each on each type, beside memcpy and a bare loop. */
#ifndef BENCH_OPERATIONS_H
#define BENCH_OPERATIONS_H

void operations_print(void);

#endif
