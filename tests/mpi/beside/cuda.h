/* A stand-in for CUDA's driver: the test says which memory is a GPU's. */
#ifndef TESTS_MPI_CUDA_H
#define TESTS_MPI_CUDA_H

#include <stdbool.h>

/* From now on this is the one buffer that the GPU has; NULL: there is none. */
void fake_device_buffer(const void *buffer, bool managed);

#endif
