#include "device.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* From cuda.h, CUDA's driver API, which need not be installed. */
enum { SUCCESS = 0, ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, MEMORY_TYPE_DEVICE = 2 };
typedef int pointer_get_attribute(void *data, int attribute, uintptr_t pointer);

static int note_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* NULL while the program has not loaded the driver. Searching is expensive, so it is done again only after
 * the program has loaded something. CUDA's runtime loads the driver into a scope of its own, so searching the
 * global scope is not enough. */
static pointer_get_attribute *find_driver(void)
{
    static _Atomic unsigned long long seen;
    static void *_Atomic found;
    unsigned long long loads = 0;
    void *symbol = found;
    dl_iterate_phdr(note_loads, &loads);
    if (!symbol && loads != seen) {
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        symbol = dlsym(library ? library : RTLD_DEFAULT, "cuPointerGetAttribute");
        found = symbol;
        seen = loads;
    }
    return *(pointer_get_attribute **)&symbol;
}

bool is_device_memory(const void *buffer)
{
    pointer_get_attribute *get = find_driver();
    uint64_t type = 0, managed = 0; /* the driver writes as much of them as it needs */
    return get && get(&type, ATTRIBUTE_MEMORY_TYPE, (uintptr_t)buffer) == SUCCESS &&
           (uint32_t)type == MEMORY_TYPE_DEVICE &&
           (get(&managed, ATTRIBUTE_IS_MANAGED, (uintptr_t)buffer) != SUCCESS || !(uint8_t)managed);
}
