/* Memory of CUDA's GPUs (gpu_driver.h), as a job comes to it: places, pinned memory, copies.
 *
 * Any thread. What returns int returns SWAGG_OK, or SWAGG_ERR_SYSTEM with the driver's words as this thread's
 * last error. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_driver.h"

enum { GPU_PLACES_MAX = 32 };

/* A context of the program's in which there are buffers, with streams of the job's own in it: they wait for
 * none of the program's, unless it says for what (gpu_follow), and none of these waits for them. */
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
    struct gpu_driver driver;
    pthread_mutex_t lock; /* for the rest */
    unsigned places;
    struct gpu_place place[GPU_PLACES_MAX]; /* [places]; they stay */
    struct gpu_room *kept;
    size_t kept_bytes;
};

/* library: the driver's (gpu_driver.h). gpu_close: no call is in flight. */
void gpu_open(struct gpu *g, const char *library);
void gpu_close(struct gpu *g);

/* *place: where a buffer lies that gpu_has. */
int gpu_find(struct gpu *g, const void *buffer, struct gpu_place **place);

/* Room of at least so many bytes, pinned for every context; and back, to be kept up to a limit. */
int gpu_take(struct gpu *g, struct gpu_place *place, size_t bytes, struct gpu_room **room);
void gpu_give(struct gpu *g, struct gpu_place *place, struct gpu_room *room);

/* A copy from a GPU (down) or to it begins, behind those before it of this kind. Returns when these are over.
 */
int gpu_copy(struct gpu *g, struct gpu_place *place, void *to, const void *from, size_t bytes, bool down);
int gpu_await(struct gpu *g, struct gpu_place *place, bool down);

/* Copies from a GPU that begin from now on wait for an event of the program's, which is in use until this
 * returns. */
int gpu_follow(struct gpu *g, struct gpu_place *place, void *event);

/* A mark behind the copies from a GPU that have begun; 1: they are over; or waits until they are. NULL, after
 * an error: there is none. */
int gpu_mark(struct gpu *g, struct gpu_place *place, void **mark);
int gpu_passed(struct gpu *g, struct gpu_place *place, void *mark);
int gpu_await_mark(struct gpu *g, struct gpu_place *place, void *mark);
void gpu_unmark(struct gpu *g, struct gpu_place *place, void *mark);
