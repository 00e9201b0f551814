/* CUDA's driver: the library that the program has loaded itself, which is looked for again only when the
 * program has loaded something. Nothing is linked, and nothing is loaded for a program that has no GPU. What
 * is said here of the driver are facts of CUDA's driver API. Any thread. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_DRIVER "libcuda.so.1"

struct gpu_driver {
    const char *library; /* outlives it; NULL: buffers are never a GPU's */
    /* It shall only say where buffers are: one with that function alone will do, wherever the program has it.
     */
    bool only_recognises;
    pthread_mutex_t lock;   /* of a search */
    atomic_ullong searched; /* what the program had loaded then */
    atomic_bool found;
    /* Its functions, once it is found; they return 0, or an error. */
    int (*pointer_get_attribute)(void *data, int attribute, uintptr_t pointer);
    int (*error_name)(int error, const char **name);
    int (*error_string)(int error, const char **words);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream);
    int (*stream_wait_event)(void *stream, void *event, unsigned flags);
    int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_wait)(void *event);
    int (*host_alloc)(void **host, size_t bytes, unsigned flags);
    int (*host_free)(void *host);
};

/* Whether the program has loaded it: there may be such buffers. */
bool gpu_is_reached(struct gpu_driver *d);

/* Whether it is memory of a GPU that the CPU cannot read; not if there are no such buffers. */
bool gpu_has(struct gpu_driver *d, const void *buffer);
