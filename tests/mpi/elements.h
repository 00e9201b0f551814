/* Number types of MPI and how to reach one among many of them, for programs that try or measure several. */
#pragma once

#include <mpi.h>
#include <stddef.h>

struct element {
    const char *name;
    MPI_Datatype type;
    size_t size;
    void (*set)(void *at, size_t i, long v);
    long (*get)(const void *at, size_t i);
};

/* Defines the accessors of C type T ... */
#define ELEMENT_ACCESS(T, tag)                                                                               \
    static void set_##tag(void *at, size_t i, long v)                                                        \
    {                                                                                                        \
        ((T *)at)[i] = (T)v;                                                                                 \
    }                                                                                                        \
    static long get_##tag(const void *at, size_t i)                                                          \
    {                                                                                                        \
        return (long)((const T *)at)[i];                                                                     \
    }

/* ... and this an element that uses them. MPI's handles are link-time addresses, which a static table may
 * hold. */
#define ELEMENT(name, type, T, tag)                                                                          \
    {                                                                                                        \
        name, type, sizeof(T), set_##tag, get_##tag                                                          \
    }
