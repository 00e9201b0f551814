#include "cold.h"

enum { LINE = 64 };

void cold_put_out(const void *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE) {
        const char *line = (const char *)memory + at;
#if defined(__x86_64__)
        __builtin_ia32_clflush(line);
#else
        __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#endif
    }
}
