/* A library to preload beside the shim: the shim itself gets no memory for a tensor of 20000 int. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { REFUSED = 20000 * sizeof(int) };

extern void *__libc_malloc(size_t bytes);

static int is_shim(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) && strstr(info.dli_fname, "swagg") != NULL &&
           strstr(info.dli_fname, ".so") != NULL;
}

void *malloc(size_t bytes)
{
    return bytes == REFUSED && is_shim(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}
