/* Which CPUs the polling threads of this machine's swagg processes are on, so that a process that starts can
 * choose others. A claim is a lock on a byte of a file, so it ends with the process, however that ends. It
 * keeps nobody away: polling threads may share a CPU.
 *
 * Between open and settle, which take no time, other processes wait with theirs, 2 s at most. One thread,
 * once a process and file: closing another descriptor of the file would drop the claims.
 */
#pragma once

#include <sys/types.h>

#include "base/run_directory.h"

#define CPU_CLAIMS_FILE RUN_DIRECTORY "/cpus"

enum { CPU_CLAIMS_A_CPU = 64 /* threads that count, of all processes */ };

/* A descriptor, to be closed to withdraw the claims; or -errno, -EBUSY if another process does not settle.
 * The file, which is its owner's alone, and the directory that it is in are made where they lack. */
int cpu_claims_open(const char *path);

/* How many polling threads of other processes are on this CPU; *holder: the process that has one of them, or
 * 0 if it is of another PID namespace. */
unsigned cpu_claims_of_others(int fd, int cpu, pid_t *holder);

/* Claims it for one more thread of this process; `before`: how many it has there already. */
void cpu_claims_take(int fd, int cpu, unsigned before);

void cpu_claims_settle(int fd);
