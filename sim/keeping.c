#include "keeping.h"

#include <stdlib.h>

#include "memory.h"
#include "sim.h"

static void must(struct keeping *k, bool holds, const char *otherwise)
{
    if (!holds && *k->broken == NULL)
        *k->broken = otherwise;
}

/* Nobody can have written to it after this. */
static void forget(struct keeping *k, struct buffer *b)
{
    must(k, b->kept == 0, "has given back a buffer twice");
    must(k, buffer_is_intact(b), "has written to a buffer that it had given back");
    buffer_drop(b);
}

static void watch(struct keeping *k, struct buffer *b)
{
    struct buffer **place = &k->watched[k->next_watched++ % KEEPING_WATCHED];

    if (*place != NULL)
        forget(k, *place);
    *place = b;
}

static void take_back(struct keeping *k, struct kept *kept)
{
    struct buffer *b = kept->buffer;

    kept->buffer = NULL;
    b->kept--;
    must(k, buffer_is_intact(b), "has written to a result after its chunk was complete");
    if (b->holders == 1)
        buffer_spoil(b);
    watch(k, b);
}

static void hand_over(struct keeping *k, struct kept *kept, struct buffer *offered, uint32_t tag)
{
    must(k, offered != NULL, "keeps a buffer that it was not offered");
    must(k, kept->buffer == NULL, "keeps more than two buffers in a slot");
    if (offered == NULL)
        return;
    if (kept->buffer != NULL) /* the pool may still write to it */
        watch(k, kept->buffer);
    *kept = (struct kept){buffer_hold(offered), tag};
    offered->kept++;
}

static void check_result(struct keeping *k, const struct kept *kept, const struct agg_verdict *v)
{
    const struct buffer *b = kept->buffer;

    must(k, v->buffer == b, "says of a result that it lies in another buffer");
    if (b != NULL)
        must(k, v->payload == b->at && v->bytes == b->bytes && buffer_is_intact(b),
             "shows another result than the one that it completed");
}

void keeping_settle(struct keeping *k, const struct agg_packet *packet, const struct agg_verdict *v)
{
    const struct sml_packet *p = (const struct sml_packet *)packet->parsed;
    struct kept *kept = &k->kept[p->slot][p->ver];
    const bool contributes = v->reason == SML_HELD || v->reason == SML_SEND_ALL;
    const bool begins = v->reason == SML_RESTORED || (contributes && kept->tag != p->tag);
    const bool completes = v->reason == SML_SEND_ALL || v->reason == SML_RESTORED;

    must(k, v->released == (begins ? kept->buffer : NULL),
         "gives back a buffer too early, too late, or that it does not have");
    if (v->released != NULL && v->released == kept->buffer)
        take_back(k, kept);
    must(k, !v->kept || contributes, "keeps a buffer that adds nothing");
    if (v->kept)
        hand_over(k, kept, packet->buffer, p->tag);
    if (completes && kept->buffer != NULL)
        buffer_seal(kept->buffer);
    if (completes || (v->reason == SML_SEND_ONE && v->buffer != NULL)) /* NULL: the header is enough */
        check_result(k, kept, v);
}

void keeping_init(struct keeping *k, unsigned slots, const char **broken)
{
    *k = (struct keeping){.broken = broken, .slots = slots, .kept = memory_of(slots * sizeof(*k->kept))};
}

static void count_drained(void *buffer)
{
    ((struct buffer *)buffer)->kept--;
}

void keeping_fini(struct keeping *k, const struct agg_job *job)
{
    job->protocol->drain(job->pool, count_drained);
    for (unsigned i = 0; i < 2 * k->slots; i++) {
        struct buffer *b = k->kept[i / 2][i % 2].buffer;
        if (b == NULL)
            continue;
        must(k, b->kept == 0, "does not give back each buffer once when it is drained");
        must(k, buffer_is_intact(b), "has written to a result after its chunk was complete");
        buffer_drop(b);
    }
    for (unsigned i = 0; i < KEEPING_WATCHED; i++)
        if (k->watched[i] != NULL)
            forget(k, k->watched[i]);
    free(k->kept);
}
