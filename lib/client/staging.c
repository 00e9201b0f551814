#include "staging.h"

#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "options.h"
#include "swagg.h"

enum { ALIGNMENT = 64 };

/* One copy: all of a segment, or a piece of it. */
struct piece {
    struct gpu_place *place;
    uint8_t *gpu, *host; /* NULL: nothing is copied, but a mark is awaited */
    size_t bytes;
    uint64_t before; /* bytes of the tensor that lie before it */
    uint64_t turn;   /* the same of what its place sums */
    bool begun;      /* of one that goes up: its copy */
    void *mark;      /* of one that comes down in a call that flows */
};

struct pieces {
    struct piece *at; /* [n] */
    size_t n, done;   /* done: the first so many are there; or their copies have begun */
};

struct staging {
    struct gpu *gpu;
    struct gpu_room *room;
    struct gpu_place *place; /* some of the places */
    struct pieces down, up;
    const void *where;
    bool apart, flows, settled; /* settled: no copy is under way */
    pthread_mutex_t lock;       /* for the pieces, and the rest */
    unsigned places;
    struct staging_span there[SWAGG_SERVERS_MAX * CLIENT_THREADS_MAX]; /* [places] of the result */
};

bool staging_flows(const struct staging *s)
{
    return s && s->flows;
}

const void *staging_where(const struct staging *s)
{
    return s ? s->where : NULL;
}

/* --- what is to be copied --- */

struct measure {
    size_t bytes, room, down, up; /* bytes of all, and of the room; pieces */
    const void *first;            /* some buffer of a GPU's; NULL: there is none */
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t pieces_in(size_t bytes)
{
    return (bytes + STAGING_PIECE - 1) / STAGING_PIECE;
}

static struct measure measure(struct gpu *g, const struct xfer_segment segments[], size_t n, size_t element,
                              bool apart)
{
    struct measure m = {0};
    for (size_t i = 0; i < n; i++) {
        const struct xfer_segment *s = &segments[i];
        const size_t bytes = s->count * element;
        const bool in = bytes > 0 && gpu_has(&g->driver, s->in),
                   out = bytes > 0 && gpu_has(&g->driver, s->out);
        m.first = m.first ? m.first : in ? s->in : out ? s->out : NULL;
        m.down += in ? pieces_in(bytes) : 0;
        m.up += out ? pieces_in(bytes) : 0;
        m.bytes += bytes;
        m.room += aligned(bytes) * (in && out && !apart ? 1 : (size_t)in + (size_t)out);
    }
    return m;
}

static void add(struct pieces *to, struct piece whole, size_t at_once)
{
    for (size_t at = 0; at < whole.bytes; at += at_once) {
        struct piece p = whole;
        p.gpu += at;
        p.host += at;
        p.before += at;
        p.bytes = whole.bytes - at < at_once ? whole.bytes - at : at_once;
        to->at[to->n++] = p;
    }
}

/* Divides the room among the segments; one whose in and out are a GPU's has one place for both. */
static int place_segment(struct staging *s, struct xfer_segment *seg, struct piece whole, uint8_t **room)
{
    const size_t at_once = s->flows ? STAGING_PIECE : whole.bytes;
    const bool in = gpu_has(&s->gpu->driver, seg->in), out = gpu_has(&s->gpu->driver, seg->out);
    int rc = SWAGG_OK;
    whole.host = *room;
    if (in) {
        whole.gpu = (uint8_t *)(uintptr_t)seg->in;
        if ((rc = gpu_find(s->gpu, seg->in, &whole.place)) < 0)
            return rc;
        add(&s->down, whole, at_once);
        seg->in = whole.host;
        *room += aligned(whole.bytes);
    }
    if (out) {
        whole.gpu = seg->out;
        if ((rc = gpu_find(s->gpu, seg->out, &whole.place)) < 0)
            return rc;
        if (!in || s->apart) {
            whole.host = *room;
            *room += aligned(whole.bytes);
        }
        add(&s->up, whole, at_once);
        seg->out = whole.host;
    }
    return rc;
}

static int place_all(struct staging *s, struct xfer_segment segments[], size_t n, size_t element)
{
    uint8_t *room = s->room->memory;
    uint64_t before = 0;
    int rc = SWAGG_OK;
    for (size_t i = 0; i < n && rc == SWAGG_OK; i++) {
        const size_t bytes = segments[i].count * element;
        if (bytes > 0)
            rc = place_segment(s, &segments[i], (struct piece){.bytes = bytes, .before = before}, &room);
        before += bytes;
    }
    return rc;
}

/* --- copies --- */

static int copy(struct staging *s, const struct piece *p, bool down)
{
    return gpu_copy(s->gpu, p->place, down ? p->host : p->gpu, down ? p->gpu : p->host, p->bytes, down);
}

static bool is_first_of_place(const struct pieces *of, size_t i)
{
    size_t k = 0;
    while (of->at[k].place != of->at[i].place)
        k++;
    return k == i;
}

/* Not for what lies behind them in the stream: the program's event of a call behind this one. */
static int await_down(struct staging *s)
{
    int rc = SWAGG_OK;
    for (size_t i = s->down.done; i < s->down.n; i++) {
        const struct piece *p = &s->down.at[i];
        const int here =
            p->mark ? gpu_await_mark(s->gpu, p->place, p->mark) : gpu_await(s->gpu, p->place, true);
        rc = rc < 0 ? rc : here;
    }
    return rc;
}

static int await_up(struct staging *s)
{
    const struct pieces *of = &s->up;
    int rc = SWAGG_OK;
    for (size_t i = 0; i < of->n; i++) {
        const int here = is_first_of_place(of, i) ? gpu_await(s->gpu, of->at[i].place, false) : SWAGG_OK;
        rc = rc < 0 ? rc : here;
    }
    return rc;
}

/* The first copies from each place are behind the program's event, and so are all others. */
static int follow(struct staging *s, void *ready)
{
    int rc = SWAGG_OK;
    for (size_t i = 0; i < s->down.n && rc == SWAGG_OK; i++)
        if (is_first_of_place(&s->down, i))
            rc = gpu_follow(s->gpu, s->down.at[i].place, ready);
    return rc;
}

static int copy_down(struct staging *s, const struct staging_call *call)
{
    int rc = call->ready ? follow(s, call->ready) : SWAGG_OK;
    for (size_t i = 0; i < s->down.n && rc == SWAGG_OK; i++) {
        struct piece *p = &s->down.at[i];
        rc = p->gpu ? copy(s, p, true) : SWAGG_OK;
        if (rc == SWAGG_OK)
            rc = gpu_mark(s->gpu, p->place, &p->mark);
    }
    return rc == SWAGG_OK && call->waits && !s->flows ? await_down(s) : rc;
}

static int make(struct gpu *g, const struct measure *m, bool apart, unsigned places, struct staging **out)
{
    struct staging *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return client_fail(SWAGG_ERR_SYSTEM, "no memory to stage a GPU's buffers");
    s->gpu = g;
    s->where = m->first;
    s->apart = apart;
    s->flows = places > 0;
    s->places = places;
    s->settled = true;
    pthread_mutex_init(&s->lock, NULL);
    s->down.at = calloc(m->down + 1, sizeof *s->down.at); /* or the event alone is awaited */
    s->up.at = calloc(m->up + 1, sizeof *s->up.at);
    if (!s->down.at || !s->up.at)
        return client_fail(SWAGG_ERR_SYSTEM, "no memory to stage a GPU's buffers");
    const int rc = gpu_find(g, m->first, &s->place);
    return rc < 0 ? rc : gpu_take(g, s->place, m->room, &s->room);
}

static int by_turn(const void *a, const void *b)
{
    const uint64_t one = ((const struct piece *)a)->turn, other = ((const struct piece *)b)->turn;
    return (one > other) - (one < other);
}

/* So that no place waits for what another sums: where one begins a piece comes first. */
static void take_turns(struct pieces *of, size_t bytes, unsigned places)
{
    const size_t each = (bytes + places - 1) / places;
    for (size_t i = 0; i < of->n; i++) {
        struct piece *p = &of->at[i];
        const bool begins_one = p->before / each != (p->before + p->bytes - 1) / each;
        p->turn = begins_one ? 0 : p->before % each;
    }
    if (places > 1)
        qsort(of->at, of->n, sizeof *of->at, by_turn);
}

/* Nothing is copied from a GPU, but what the program has still to do with its buffers comes first. */
static void await_event_alone(struct staging *s, size_t bytes)
{
    s->down.at[s->down.n++] = (struct piece){.place = s->place, .bytes = bytes};
}

int staging_begin(struct gpu *g, struct xfer_segment segments[], size_t n, const struct staging_call *call,
                  struct staging **out)
{
    *out = NULL;
    if (n == 0 || !gpu_is_reached(&g->driver))
        return SWAGG_OK;
    const struct measure m = measure(g, segments, n, call->element, call->apart);
    if (!m.first)
        return SWAGG_OK;
    int rc = make(g, &m, call->apart, m.bytes > STAGING_PIECE ? call->flows : 0, out);
    if (rc == SWAGG_OK)
        rc = place_all(*out, segments, n, call->element);
    if (rc < 0)
        return rc;
    if ((*out)->flows)
        take_turns(&(*out)->down, m.bytes, call->flows);
    if (m.down == 0 && call->ready)
        await_event_alone(*out, m.bytes);
    (*out)->settled = false;
    return copy_down(*out, call);
}

int staging_come(struct staging *s)
{
    int rc = 1;
    pthread_mutex_lock(&s->lock);
    while (s->down.done < s->down.n && rc == 1) {
        const struct piece *p = &s->down.at[s->down.done];
        rc = gpu_passed(s->gpu, p->place, p->mark);
        s->down.done += rc == 1;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

uint64_t staging_there(struct staging *s, uint64_t from)
{
    uint64_t to = UINT64_MAX;
    pthread_mutex_lock(&s->lock);
    for (size_t i = s->down.done; i < s->down.n; i++) {
        const struct piece *p = &s->down.at[i];
        if (p->before + p->bytes > from && p->before < to)
            to = p->before > from ? p->before : from;
    }
    pthread_mutex_unlock(&s->lock);
    return to;
}

static bool is_there(const struct staging *s, const struct piece *p)
{
    uint64_t at = p->before;
    for (unsigned i = 0; i < s->places && at < p->before + p->bytes; i++)
        if (s->there[i].from <= at && s->there[i].to > at)
            at = s->there[i].to;
    return at >= p->before + p->bytes;
}

int staging_leave(struct staging *s, unsigned place, const struct staging_span there[], unsigned n)
{
    int rc = SWAGG_OK;
    pthread_mutex_lock(&s->lock);
    memcpy(&s->there[place], there, n * sizeof *there);
    const bool may = s->down.n == 0 || s->down.done > 0; /* the program is done with its buffers */
    for (size_t i = s->up.done; i < s->up.n && may && rc == SWAGG_OK; i++) {
        struct piece *p = &s->up.at[i];
        if (!p->begun && is_there(s, p)) {
            rc = copy(s, p, false);
            p->begun = true;
        }
        if (!p->begun && s->places == 1) /* nor is what lies behind it */
            break;
        s->up.done += p->begun && i == s->up.done;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int staging_end(struct staging *s, bool well)
{
    int rc = SWAGG_OK;
    for (size_t i = 0; i < s->up.n && well && rc == SWAGG_OK; i++)
        if (!s->up.at[i].begun)
            rc = copy(s, &s->up.at[i], false);
    const int down = await_down(s), up = await_up(s);
    s->settled = true;
    return rc < 0 ? rc : down < 0 ? down : up;
}

void staging_free(struct staging *s)
{
    if (!s)
        return;
    if (!s->settled)
        staging_end(s, false);
    for (size_t i = 0; i < s->down.n; i++)
        gpu_unmark(s->gpu, s->down.at[i].place, s->down.at[i].mark);
    if (s->room)
        gpu_give(s->gpu, s->place, s->room);
    free(s->down.at);
    free(s->up.at);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int staging_move(struct gpu *g, void *to, const void *from, size_t bytes)
{
    const bool down = gpu_has(&g->driver, from);
    struct gpu_place *place;
    if (!down && !gpu_has(&g->driver, to)) {
        memmove(to, from, bytes);
        return SWAGG_OK;
    }
    int rc = gpu_find(g, down ? from : to, &place);
    if (rc == SWAGG_OK)
        rc = gpu_copy(g, place, to, from, bytes, down);
    const int awaited = place ? gpu_await(g, place, down) : SWAGG_OK;
    return rc < 0 ? rc : awaited;
}
