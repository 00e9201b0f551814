#include "gpu.h"

#include <stdlib.h>

#include "describe.h"
#include "swagg.h"

/* From CUDA's driver API. */
enum {
    SUCCESS = 0,
    NOT_READY = 600,
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_DEVICE = 9,
    HOST_PORTABLE = 1,
    STREAM_NON_BLOCKING = 1,
    EVENT_WITHOUT_TIMING = 2,
};

enum { KEPT_MAX = 256 << 20, ROOM_LEAST = 64 << 10 };

void gpu_open(struct gpu *g, const char *library)
{
    *g = (struct gpu){.driver = {.library = library, .lock = PTHREAD_MUTEX_INITIALIZER},
                      .lock = PTHREAD_MUTEX_INITIALIZER};
}

static int fail(struct gpu *g, const char *what, int error)
{
    const char *name = NULL, *words = NULL;
    g->driver.error_name(error, &name);
    g->driver.error_string(error, &words);
    return client_fail(SWAGG_ERR_SYSTEM, "the GPU's driver %s: %s (%s, %d)", what,
                       words ? words : "it does not say why", name ? name : "unknown", error);
}

/* What is done with a context of the program's current for this thread, which had another one, or none. */
#define IN_CONTEXT(g, ctx, error, doing)                                                                     \
    do {                                                                                                     \
        void *popped;                                                                                        \
        if (((error) = (g)->driver.push(ctx)) == SUCCESS) {                                                  \
            (error) = (doing);                                                                               \
            (g)->driver.pop(&popped);                                                                        \
        }                                                                                                    \
    } while (0)

/* --- where buffers are --- */

/* Memory out of the driver's pools belongs to no context: that of its device will do. */
static int find_context(struct gpu *g, uintptr_t at, struct gpu_place *place)
{
    uint64_t device = 0;
    int error;
    *place = (struct gpu_place){.device = -1};
    if (g->driver.pointer_get_attribute(&place->context, ATTRIBUTE_CONTEXT, at) == SUCCESS && place->context)
        return SWAGG_OK;
    if ((error = g->driver.pointer_get_attribute(&device, ATTRIBUTE_DEVICE, at)) != SUCCESS ||
        (error = g->driver.retain(&place->context, (int)device)) != SUCCESS)
        return fail(g, "does not say in which context a buffer is", error);
    place->device = (int)device;
    return SWAGG_OK;
}

static int make_streams(struct gpu *g, struct gpu_place *place)
{
    int error;
    IN_CONTEXT(g, place->context, error, g->driver.stream_create(&place->down, STREAM_NON_BLOCKING));
    if (error == SUCCESS)
        IN_CONTEXT(g, place->context, error, g->driver.stream_create(&place->up, STREAM_NON_BLOCKING));
    return error == SUCCESS ? SWAGG_OK : fail(g, "makes no stream", error);
}

static void close_place(struct gpu *g, struct gpu_place *place)
{
    int error;
    if (place->down)
        IN_CONTEXT(g, place->context, error, g->driver.stream_destroy(place->down));
    if (place->up)
        IN_CONTEXT(g, place->context, error, g->driver.stream_destroy(place->up));
    if (place->device >= 0)
        g->driver.release(place->device);
}

/* With the lock. */
static int add_place(struct gpu *g, struct gpu_place *place)
{
    if (g->places == GPU_PLACES_MAX)
        return client_fail(SWAGG_ERR_SYSTEM, "a job's buffers are in more than %d contexts of GPUs",
                           GPU_PLACES_MAX);
    const int rc = make_streams(g, place);
    if (rc == SWAGG_OK)
        g->place[g->places++] = *place;
    return rc;
}

int gpu_find(struct gpu *g, const void *buffer, struct gpu_place **place)
{
    struct gpu_place here;
    *place = NULL;
    int rc = find_context(g, (uintptr_t)buffer, &here);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&g->lock);
    unsigned i = 0;
    while (i < g->places && g->place[i].context != here.context)
        i++;
    const bool is_known = i < g->places;
    if (!is_known)
        rc = add_place(g, &here);
    if (rc == SWAGG_OK)
        *place = &g->place[i];
    pthread_mutex_unlock(&g->lock);
    if (rc < 0)
        close_place(g, &here);
    else if (is_known && here.device >= 0)
        g->driver.release(here.device);
    return rc;
}

/* --- pinned memory --- */

static struct gpu_room *take_kept(struct gpu *g, size_t bytes)
{
    pthread_mutex_lock(&g->lock);
    struct gpu_room **at = &g->kept;
    while (*at && (*at)->bytes != bytes)
        at = &(*at)->next;
    struct gpu_room *room = *at;
    if (room) {
        *at = room->next;
        g->kept_bytes -= room->bytes;
    }
    pthread_mutex_unlock(&g->lock);
    return room;
}

/* Of few sizes, so that they serve again: a power of two, or half as much again. */
static size_t rounded(size_t bytes)
{
    size_t size = ROOM_LEAST;
    while (size < bytes && size + size / 2 < bytes)
        size *= 2;
    return size < bytes ? size + size / 2 : size;
}

int gpu_take(struct gpu *g, struct gpu_place *place, size_t bytes, struct gpu_room **room)
{
    const size_t size = rounded(bytes);
    void *memory = NULL;
    int error;
    if ((*room = take_kept(g, size)))
        return SWAGG_OK;
    if (!(*room = calloc(1, sizeof **room)))
        return client_fail(SWAGG_ERR_SYSTEM, "no memory to stage a GPU's buffers");
    IN_CONTEXT(g, place->context, error, g->driver.host_alloc(&memory, size, HOST_PORTABLE));
    if (error == SUCCESS) {
        **room = (struct gpu_room){.bytes = size, .memory = memory};
        return SWAGG_OK;
    }
    free(*room);
    *room = NULL;
    return fail(g, "has no pinned memory for a call's buffers", error);
}

static void free_room(struct gpu *g, const struct gpu_place *place, struct gpu_room *room)
{
    int error;
    IN_CONTEXT(g, place->context, error, g->driver.host_free(room->memory));
    free(room);
}

void gpu_give(struct gpu *g, struct gpu_place *place, struct gpu_room *room)
{
    pthread_mutex_lock(&g->lock);
    const bool keeps = room->bytes <= KEPT_MAX - g->kept_bytes;
    if (keeps) {
        room->next = g->kept;
        g->kept = room;
        g->kept_bytes += room->bytes;
    }
    pthread_mutex_unlock(&g->lock);
    if (!keeps)
        free_room(g, place, room);
}

void gpu_close(struct gpu *g)
{
    for (struct gpu_room *room = g->kept, *next; room; room = next) {
        next = room->next;
        free_room(g, &g->place[0], room);
    }
    for (unsigned i = 0; i < g->places; i++)
        close_place(g, &g->place[i]);
    pthread_mutex_destroy(&g->lock);
}

/* --- copies --- */

static void *stream_of(const struct gpu_place *place, bool down)
{
    return down ? place->down : place->up;
}

int gpu_copy(struct gpu *g, struct gpu_place *place, void *to, const void *from, size_t bytes, bool down)
{
    int error;
    IN_CONTEXT(g, place->context, error,
               g->driver.copy((uintptr_t)to, (uintptr_t)from, bytes, stream_of(place, down)));
    return error == SUCCESS ? SWAGG_OK
                            : fail(g, down ? "copies nothing from it" : "copies nothing to it", error);
}

int gpu_await(struct gpu *g, struct gpu_place *place, bool down)
{
    int error;
    IN_CONTEXT(g, place->context, error, g->driver.stream_wait(stream_of(place, down)));
    return error == SUCCESS
               ? SWAGG_OK
               : fail(g, down ? "has not copied all from it" : "has not copied all to it", error);
}

int gpu_follow(struct gpu *g, struct gpu_place *place, void *event)
{
    int error;
    IN_CONTEXT(g, place->context, error, g->driver.stream_wait_event(place->down, event, 0));
    return error == SUCCESS ? SWAGG_OK : fail(g, "does not wait for the program's event", error);
}

int gpu_mark(struct gpu *g, struct gpu_place *place, void **mark)
{
    int error;
    *mark = NULL;
    IN_CONTEXT(g, place->context, error, g->driver.event_create(mark, EVENT_WITHOUT_TIMING));
    if (error == SUCCESS)
        IN_CONTEXT(g, place->context, error, g->driver.event_record(*mark, place->down));
    if (error == SUCCESS)
        return SWAGG_OK;
    gpu_unmark(g, place, *mark);
    *mark = NULL;
    return fail(g, "marks no copies", error);
}

int gpu_passed(struct gpu *g, struct gpu_place *place, void *mark)
{
    int error;
    IN_CONTEXT(g, place->context, error, g->driver.event_query(mark));
    if (error == SUCCESS || error == NOT_READY)
        return error == SUCCESS;
    return fail(g, "has not copied all from it", error);
}

int gpu_await_mark(struct gpu *g, struct gpu_place *place, void *mark)
{
    int error;
    IN_CONTEXT(g, place->context, error, g->driver.event_wait(mark));
    return error == SUCCESS ? SWAGG_OK : fail(g, "has not copied all from it", error);
}

void gpu_unmark(struct gpu *g, struct gpu_place *place, void *mark)
{
    int error;
    if (mark)
        IN_CONTEXT(g, place->context, error, g->driver.event_destroy(mark));
}
