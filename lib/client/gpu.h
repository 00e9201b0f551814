/* Memory of CUDA's GPUs, as a job comes to it: by the driver's library that the program has loaded itself,
 * which is looked for again only when the program has loaded something. Nothing is linked, and nothing is
 * loaded for a program that has no GPU. What is said here of the driver are facts of CUDA's driver API.
 *
 * Any thread. What returns int returns SWAGG_OK, or SWAGG_ERR_SYSTEM with the driver's words as this thread's
 * last error. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_DRIVER "libcuda.so.1"

enum { GPU_PLACES_MAX = 32 };

/* Functions of the driver's; they return 0, or an error. */
struct gpu_driver {
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
    int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*host_alloc)(void **host, size_t bytes, unsigned flags);
    int (*host_free)(void *host);
};

/* A context of the program's in which there are buffers, with streams of the job's own in it: they wait for
 * none of the program's, and none of these waits for them. */
struct gpu_place {
    void *context;
    int device; /* whose primary context it is, retained; -1: the program's */
    void *down, *up;
};

/* Pinned memory, in which a call's tensors are staged. */
struct gpu_room {
    struct gpu_room *next;
    size_t bytes;
    uint8_t *memory;
};

struct gpu {
    const char *library;    /* the driver's; NULL: buffers are never a GPU's */
    atomic_ullong searched; /* what the program had loaded then */
    atomic_bool found;
    struct gpu_driver driver; /* once it is found */
    pthread_mutex_t lock;     /* for the rest */
    unsigned places;
    struct gpu_place place[GPU_PLACES_MAX]; /* [places]; they stay */
    struct gpu_room *kept;
    size_t kept_bytes;
};

/* library must outlive it. gpu_close: no call is in flight. */
void gpu_open(struct gpu *g, const char *library);
void gpu_close(struct gpu *g);

/* Whether there may be such buffers at all. */
bool gpu_is_reached(struct gpu *g);

/* Whether it is memory of a GPU that the CPU cannot read; not if there are no such buffers. */
bool gpu_has(struct gpu *g, const void *buffer);

/* *place: where a buffer lies that gpu_has. */
int gpu_find(struct gpu *g, const void *buffer, struct gpu_place **place);

/* Room of at least so many bytes, pinned for every context; and back, to be kept up to a limit. */
int gpu_take(struct gpu *g, struct gpu_place *place, size_t bytes, struct gpu_room **room);
void gpu_give(struct gpu *g, struct gpu_place *place, struct gpu_room *room);

/* A copy from a GPU (down) or to it begins, behind those before it of this kind. Returns when these are over.
 */
int gpu_copy(struct gpu *g, struct gpu_place *place, void *to, const void *from, size_t bytes, bool down);
int gpu_await(struct gpu *g, struct gpu_place *place, bool down);

/* A mark behind the copies from a GPU that have begun; 1: they are over. */
int gpu_mark(struct gpu *g, struct gpu_place *place, void **mark);
int gpu_passed(struct gpu *g, struct gpu_place *place, void *mark);
void gpu_unmark(struct gpu *g, struct gpu_place *place, void *mark);
