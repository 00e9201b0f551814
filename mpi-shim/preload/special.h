/* What a preload for one MPI library does and others do not: openmpi.c, mpich.c, one of which it has. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

/* The same of its front (front.h). */
extern const char special_name[], special_start_it[];
int special_raise(MPI_Comm comm, int error, const char *function);

/* Before MPI_Init is done. */
void special_prepare(void);

/* After it: whether the program is served in another way, and the preload has nothing to do. */
bool special_is_left_alone(void);

/* Whether what is posted goes on whenever the library progresses, from now on; where the library has no place
 * for that it goes on in the preload's own functions only. */
void special_progress(bool goes_on);
