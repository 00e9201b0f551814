/* What a preload for one MPI library does and others do not: openmpi.c, mpich.c, one of which it has. Its
 * front is there, too. */
#pragma once

#include <stdbool.h>

/* Before MPI_Init is done. */
void special_prepare(void);

/* After it: whether the program is served in another way, and the preload has nothing to do. */
bool special_is_left_alone(void);
