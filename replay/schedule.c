#include "schedule.h"

#include <math.h>
#include <stdlib.h>

static void add(struct schedule *s, const struct schedule_how *how, uint64_t bytes, double ms)
{
    const double elements = (double)bytes / how->scale / sizeof(float);
    struct schedule_bucket *b = &s->bucket[s->buckets++];

    *b = (struct schedule_bucket){.elements = elements < 1 ? 1 : (uint64_t)(elements + 0.5),
                                  .ready_s = ms / 1e3 / how->speed};
    s->elements += b->elements;
}

struct schedule *schedule_of(const struct profile *p, const struct schedule_how *how)
{
    struct schedule *s = calloc(1, sizeof(*s) + p->layers * sizeof(s->bucket[0]));
    const uint64_t full = how->bucket_bytes > 0 ? how->bucket_bytes : p->bucket_bytes;
    uint64_t bytes = 0;
    double ms = 0;

    if (s == NULL)
        return NULL;
    for (unsigned i = 0; i < p->layers; i++)
        ms += p->layer[i].forward_ms;
    for (unsigned i = p->layers; i-- > 0;) {
        ms += p->layer[i].backward_ms;
        bytes += p->layer[i].bytes;
        if (bytes >= full || (i == 0 && bytes > 0)) {
            add(s, how, bytes, ms);
            bytes = 0;
        }
    }
    s->compute_s = ms / 1e3 / how->speed;
    return s;
}

void schedule_count(struct schedule_shares *shares, double began, double ended, double computed)
{
    const double from = fmax(began, shares->seen);

    if (ended <= from)
        return;
    shares->communication += ended - from;
    shares->overlap += fmax(0, fmin(ended, computed) - from);
    shares->seen = ended;
}
