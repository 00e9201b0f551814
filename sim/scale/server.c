#include "scale/server.h"

#include <stdlib.h>
#include <string.h>

enum { PS = 1000 /* in a ns */ };

struct parcel *parcel_new(const uint8_t *payload, size_t bytes, uint16_t from)
{
    struct parcel *p = malloc(sizeof(*p) + bytes);

    if (p == NULL)
        sim_die("out of memory");
    *p = (struct parcel){.from = from, .bytes = (uint16_t)bytes};
    memcpy(p->payload, payload, bytes);
    return p;
}

static void on_due(void *ctx, uint64_t argument)
{
    struct server *s = ctx;
    struct parcel *p = s->first;

    (void)argument;
    s->first = p->next;
    s->waiting--;
    if (s->first != NULL) {
        __builtin_prefetch(s->first);
        __builtin_prefetch(s->first->payload + sizeof(*p));
        sim_at(s->sim, p->next_at, on_due, s, 0);
    }
    s->hand_on(s->ctx, p);
}

void server_put(struct server *s, struct parcel *p, uint64_t takes_ps)
{
    const uint64_t now_ps = s->sim->now * PS;

    s->free_at_ps = (s->free_at_ps > now_ps ? s->free_at_ps : now_ps) + takes_ps;
    s->busy_ps += takes_ps;
    p->at = (s->free_at_ps + PS - 1) / PS + s->delay_ns;
    p->next = NULL;
    if (s->first == NULL) {
        s->first = p;
        sim_at(s->sim, p->at, on_due, s, 0);
    } else {
        s->last->next = p;
        s->last->next_at = p->at;
    }
    s->last = p;
    if (++s->waiting > s->longest)
        s->longest = s->waiting;
}

void server_fini(struct server *s)
{
    while (s->first != NULL) {
        struct parcel *p = s->first;
        s->first = p->next;
        free(p);
    }
}
