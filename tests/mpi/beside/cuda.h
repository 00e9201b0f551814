/* A stand-in for CUDA's driver: the test says which memory is a GPU's. */
#pragma once

#include <stdbool.h>

/* From now on this is the one buffer that the GPU has; NULL: there is none. */
void fake_device_buffer(const void *buffer, bool managed);
