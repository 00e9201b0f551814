#include "cuda.h"

#include <stdint.h>

static uintptr_t device_buffer;
static bool is_managed;

void fake_device_buffer(const void *buffer, bool managed)
{
    device_buffer = (uintptr_t)buffer;
    is_managed = managed;
}

int cuPointerGetAttribute(void *data, int attribute, uintptr_t pointer);

int cuPointerGetAttribute(void *data, int attribute, uintptr_t pointer)
{
    if (pointer != device_buffer)
        return 1; /* CUDA_ERROR_INVALID_VALUE: memory that the driver does not know */
    if (attribute == 2)
        *(uint32_t *)data = 2; /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE: CU_MEMORYTYPE_DEVICE */
    else if (attribute == 8)
        *(bool *)data = is_managed; /* CU_POINTER_ATTRIBUTE_IS_MANAGED */
    else
        return 1;
    return 0;
}
