#include "gpu_driver.h"

#include <dlfcn.h>
#include <link.h>

/* From CUDA's driver API. */
enum { SUCCESS = 0, ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, MEMORY_TYPE_DEVICE = 2 };

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SYMBOL(field, symbol)                                                                                \
    {                                                                                                        \
        symbol, offsetof(struct gpu_driver, field)                                                           \
    }
    SYMBOL(pointer_get_attribute, "cuPointerGetAttribute"),
    SYMBOL(error_name, "cuGetErrorName"),
    SYMBOL(error_string, "cuGetErrorString"),
    SYMBOL(push, "cuCtxPushCurrent_v2"),
    SYMBOL(pop, "cuCtxPopCurrent_v2"),
    SYMBOL(retain, "cuDevicePrimaryCtxRetain"),
    SYMBOL(release, "cuDevicePrimaryCtxRelease_v2"),
    SYMBOL(stream_create, "cuStreamCreate"),
    SYMBOL(stream_destroy, "cuStreamDestroy_v2"),
    SYMBOL(stream_wait, "cuStreamSynchronize"),
    SYMBOL(stream_wait_event, "cuStreamWaitEvent"),
    SYMBOL(copy, "cuMemcpyAsync"),
    SYMBOL(event_create, "cuEventCreate"),
    SYMBOL(event_destroy, "cuEventDestroy_v2"),
    SYMBOL(event_record, "cuEventRecord"),
    SYMBOL(event_query, "cuEventQuery"),
    SYMBOL(event_wait, "cuEventSynchronize"),
    SYMBOL(host_alloc, "cuMemHostAlloc"),
    SYMBOL(host_free, "cuMemFreeHost"),
#undef SYMBOL
};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };
_Static_assert(offsetof(struct gpu_driver, pointer_get_attribute) + SYMBOLS * sizeof(void *) ==
                   sizeof(struct gpu_driver),
               "each function has its symbol");

static int note_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

/* With the lock. One that lacks a function is too old. It is never unloaded. CUDA's runtime loads it into a
 * scope of its own, so searching the global one is not enough. */
static void search(struct gpu_driver *d)
{
    void *library = dlopen(d->library, RTLD_NOW | RTLD_NOLOAD);
    if (!library && !d->only_recognises)
        return;
    for (size_t i = 0; i < (d->only_recognises ? 1 : SYMBOLS); i++) {
        void *symbol = dlsym(library ? library : RTLD_DEFAULT, symbols[i].name);
        if (!symbol)
            return;
        *(void **)((char *)d + symbols[i].offset) = symbol;
    }
    atomic_store_explicit(&d->found, true, memory_order_release);
}

bool gpu_is_reached(struct gpu_driver *d)
{
    unsigned long long loads = 0;
    if (!d->library || atomic_load_explicit(&d->found, memory_order_acquire))
        return d->library != NULL;
    dl_iterate_phdr(note_loads, &loads);
    if (loads == atomic_load_explicit(&d->searched, memory_order_acquire))
        return false;
    pthread_mutex_lock(&d->lock);
    if (!atomic_load(&d->found))
        search(d);
    atomic_store_explicit(&d->searched, loads, memory_order_release);
    pthread_mutex_unlock(&d->lock);
    return atomic_load(&d->found);
}

bool gpu_has(struct gpu_driver *d, const void *buffer)
{
    uint64_t type = 0, managed = 0; /* the driver writes as much of them as it needs */
    const uintptr_t at = (uintptr_t)buffer;
    return buffer && gpu_is_reached(d) &&
           d->pointer_get_attribute(&type, ATTRIBUTE_MEMORY_TYPE, at) == SUCCESS &&
           (uint32_t)type == MEMORY_TYPE_DEVICE &&
           (d->pointer_get_attribute(&managed, ATTRIBUTE_IS_MANAGED, at) != SUCCESS || !(uint8_t)managed);
}
