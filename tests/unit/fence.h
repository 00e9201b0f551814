/* Memory between pages that nobody may touch: who reads or writes a byte before it or behind it ends the test
 * program, whatever it was compiled with. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A page. */
struct fence {
    uint8_t *page;
    size_t bytes;
};

static inline struct fence fence_make(void)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *mem = mmap(NULL, 3 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mem == MAP_FAILED || mprotect(mem + bytes, bytes, PROT_READ | PROT_WRITE) != 0)
        abort();
    return (struct fence){.page = mem + bytes, .bytes = bytes};
}

static inline void fence_free(struct fence *f)
{
    munmap(f->page - f->bytes, 3 * f->bytes);
}

/* So many bytes of it, at its end or at its begin. */
static inline uint8_t *fence_at(const struct fence *f, size_t bytes, bool end)
{
    return end ? f->page + f->bytes - bytes : f->page;
}
