#include "waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int waits_open(struct waits *w, unsigned ranks)
{
    *w = (struct waits){.ranks = ranks};
    pthread_mutex_init(&w->lock, NULL);
    w->missing = calloc(ranks, sizeof *w->missing);
    w->for_rank = calloc(ranks, sizeof *w->for_rank);
    return w->missing && w->for_rank ? 0 : -ENOMEM;
}

void waits_close(struct waits *w)
{
    free(w->missing);
    free(w->for_rank);
    pthread_mutex_destroy(&w->lock);
}

void waits_begin(struct waits *w, uint64_t round_trip, uint64_t progress, uint64_t now)
{
    w->round_trip = round_trip;
    w->progress = progress;
    w->since = now + round_trip;
    w->missing_count = 0;
}

static void charge(struct waits *w, uint64_t until)
{
    if (w->missing_count == 0 || until <= w->since)
        return;
    pthread_mutex_lock(&w->lock);
    w->total += until - w->since;
    for (unsigned i = 0; i < w->missing_count; i++)
        w->for_rank[w->missing[i]] += until - w->since;
    pthread_mutex_unlock(&w->lock);
    w->since = until;
}

void waits_note(struct waits *w, uint64_t progress, const uint16_t missing[], unsigned n, uint64_t now)
{
    if (progress != w->progress) {
        charge(w, progress);
        waits_begin(w, w->round_trip, progress, progress);
    }
    w->missing_count = n;
    memcpy(w->missing, missing, n * sizeof *missing);
    charge(w, now);
}

uint64_t waits_total(struct waits *w)
{
    pthread_mutex_lock(&w->lock);
    const uint64_t total = w->total;
    pthread_mutex_unlock(&w->lock);
    return total;
}

void waits_read(struct waits *w, uint64_t for_rank[], unsigned n)
{
    const unsigned known = n < w->ranks ? n : w->ranks;
    if (n == 0)
        return; /* for_rank may be NULL */
    memset(for_rank, 0, n * sizeof *for_rank);
    pthread_mutex_lock(&w->lock);
    memcpy(for_rank, w->for_rank, known * sizeof *for_rank);
    pthread_mutex_unlock(&w->lock);
}
