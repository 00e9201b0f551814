/* Our worker against the switch of the SwitchML paper, literally (paper_switch.h): packets of the published
 * sizes over links that keep their order and lose some. Whatever is lost, every rank ends with the same sums,
 * within the bound of the paper's theorems; and the switch was never sent what it does not know. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "paper_switch.h"
#include "placed.h"
#include "random.h"
#include "unit.h"

enum { CALLS = 4, COUNT_MAX = 6000, LINK_MAX = 512, STEPS_MAX = 1000000 };

/* First in, first out. */
struct link {
    unsigned first, n;
    struct {
        uint16_t bytes;
        uint8_t payload[PAPER_PACKET];
    } packet[LINK_MAX];
};

struct rank {
    struct sml_stream *stream;
    struct link up, down;
    unsigned call;
    bool in_call;
    float in[COUNT_MAX], out[CALLS][COUNT_MAX];
};

struct world {
    uint64_t seed, rng, now;
    unsigned workers, slots, loss_percent;
    unsigned on_links; /* packets */
    struct xfer_call calls[CALLS];
    struct paper_switch node;
    struct rank ranks[PAPER_WORKERS];
};

static float element(const struct world *w, unsigned rank, unsigned call, unsigned i)
{
    uint64_t rng = w->seed * 31 + rank * 1000003 + call * 7919 + i;
    const float part = (float)((int64_t)rng_below(&rng, 2000001) - 1000000);

    if (rng_below(&rng, 3000) == 0)
        return INFINITY;
    return ldexpf(part, (int)((i / 50 + 5 * rank) % 60) - 30);
}

static int32_t integer(const struct world *w, unsigned rank, unsigned call, unsigned i)
{
    return (int32_t)((w->seed + rank * 1000003 + call * 7919 + i) * 2654435761u);
}

static void put(struct world *w, struct link *l, const uint8_t *payload, size_t bytes)
{
    if (rng_below(&w->rng, 100) < w->loss_percent || l->n == LINK_MAX)
        return;
    unsigned at = (l->first + l->n++) % LINK_MAX;
    w->on_links++;
    memcpy(l->packet[at].payload, payload, bytes);
    l->packet[at].bytes = (uint16_t)bytes;
}

static size_t take(struct world *w, struct link *l, uint8_t *payload)
{
    const unsigned at = l->first;

    if (l->n == 0)
        return 0;
    l->first = (l->first + 1) % LINK_MAX;
    l->n--;
    w->on_links--;
    memcpy(payload, l->packet[at].payload, l->packet[at].bytes);
    return l->packet[at].bytes;
}

static void at_switch(struct world *w, unsigned wid, uint8_t *packet, size_t bytes)
{
    switch (paper_switch_receive(&w->node, wid, packet, bytes)) {
    case PAPER_MULTICAST:
        for (unsigned r = 0; r < w->workers; r++)
            put(w, &w->ranks[r].down, packet, bytes);
        break;
    case PAPER_UNICAST:
        put(w, &w->ranks[wid].down, packet, bytes);
        break;
    case PAPER_DROP:
        break;
    }
}

static void begin(struct world *w, unsigned r)
{
    struct rank *k = &w->ranks[r];
    const struct xfer_call *call = &w->calls[k->call];

    for (unsigned i = 0; i < call->count; i++)
        if (call->type == AGG_F32)
            k->in[i] = element(w, r, k->call, i);
        else
            ((int32_t *)k->in)[i] = integer(w, r, k->call, i);
    CU_ASSERT_EQUAL_FATAL(sml_stream_begin(k->stream, call, k->in, k->out[k->call], w->now), 0);
    k->in_call = true;
}

/* Nothing is on its way: the next thing to happen is that somebody sends again. */
static void wait_for_timers(struct world *w)
{
    uint64_t next = UINT64_MAX;

    for (unsigned r = 0; r < w->workers; r++) {
        const uint64_t timer = sml_stream_timer(w->ranks[r].stream);
        next = timer < next ? timer : next;
    }
    if (next != UINT64_MAX && next > w->now)
        w->now = next;
}

/* One of many things happens: a packet arrives somewhere, or time passes. */
static void step(struct world *w)
{
    uint8_t packet[PAPER_PACKET];
    struct xfer_send send;
    struct rank *k = &w->ranks[rng_below(&w->rng, w->workers)];
    const unsigned r = (unsigned)(k - w->ranks);
    size_t bytes;

    w->now += 1000;
    if (w->on_links == 0)
        wait_for_timers(w);
    if (rng_below(&w->rng, 2) == 0 && (bytes = take(w, &k->up, packet)) > 0)
        at_switch(w, r, packet, bytes);
    else if ((bytes = take(w, &k->down, packet)) > 0)
        sml_stream_receive(k->stream, packet, bytes, w->now);
    if (k->in_call && sml_stream_status(k->stream) == XFER_DONE) {
        k->in_call = false;
        k->call++;
    }
    if (!k->in_call && k->call < CALLS)
        begin(w, r);
    while (sml_stream_poll(k->stream, w->now, &send))
        put(w, &k->up, packet, xfer_send_copy(&send, packet));
}

static bool all_done(const struct world *w)
{
    for (unsigned r = 0; r < w->workers; r++)
        if (w->ranks[r].call < CALLS)
            return false;
    return true;
}

/* The bound of the element's block; negative: a rank has something in it that is not finite. */
static double bound_of(const struct world *w, unsigned call, unsigned i)
{
    const unsigned block = (unsigned)(w->node.bytes / 4), first = i / block * block;
    int exponent = NUM_EXPONENT_LEAST, e;

    for (unsigned r = 0; r < w->workers; r++)
        for (unsigned at = first; at < first + block && at < w->calls[call].count; at++) {
            const float x = element(w, r, call, at);
            if (!isfinite(x))
                return -1;
            if (x != 0 && frexpf(x, &e) != 0 && e > exponent)
                exponent = e;
        }
    return (double)w->workers * w->workers * ldexp(1, exponent) / INT32_MAX;
}

static bool element_is_right(const struct world *w, unsigned call, unsigned i, double bound)
{
    const float got = w->ranks[0].out[call][i];
    double sum = 0;
    uint32_t integers = 0, integer_got;

    for (unsigned r = 0; r < w->workers; r++) {
        sum += (double)element(w, r, call, i);
        integers += (uint32_t)integer(w, r, call, i);
    }
    memcpy(&integer_got, &got, sizeof integer_got);
    if (w->calls[call].type == AGG_I32)
        return integer_got == integers;
    return bound < 0 ? isnan(got) : fabs((double)got - sum) <= bound + fabs(sum) * 0x1p-24;
}

static unsigned wrong_elements(const struct world *w)
{
    unsigned wrong = 0;

    for (unsigned c = 0; c < CALLS; c++) {
        double bound = 0;
        for (unsigned i = 0; i < w->calls[c].count; i++) {
            if (w->calls[c].type == AGG_F32 && i % (w->node.bytes / 4) == 0)
                bound = bound_of(w, c, i);
            wrong += !element_is_right(w, c, i, bound);
        }
        for (unsigned r = 1; r < w->workers; r++)
            wrong += memcmp(w->ranks[r].out[c], w->ranks[0].out[c], w->calls[c].count * sizeof(float)) != 0;
    }
    return wrong;
}

static void give_streams(struct world *w)
{
    struct sml_stream_config cfg = {.workers = (uint16_t)w->workers,
                                    .slots = (uint16_t)w->slots,
                                    .chunk_bytes = (uint16_t)w->node.bytes,
                                    .job = 7,
                                    .format = XFER_FORMAT_INT32,
                                    .plain = true,
                                    .first_tag = (uint32_t)rng_next(&w->rng),
                                    .kernels = kernels_or_exit()};

    for (unsigned r = 0; r < w->workers; r++) {
        cfg.rank = (uint16_t)r;
        w->ranks[r].stream = stream_of(&cfg);
    }
}

static void open_world(struct world *w, uint64_t seed)
{
    w->seed = w->rng = seed;
    w->workers = 2 + (unsigned)rng_below(&w->rng, PAPER_WORKERS - 1);
    w->slots = 1u << rng_below(&w->rng, 7);
    w->loss_percent = seed % 3 == 0 ? 0 : (unsigned)rng_below(&w->rng, 10);
    w->node.n = w->workers;
    w->node.bytes = (size_t)128 << rng_below(&w->rng, 4);
    for (unsigned c = 0; c < CALLS; c++)
        w->calls[c] = (struct xfer_call){.collective = XFER_ALLREDUCE,
                                         .type = c == 1 ? AGG_I32 : AGG_F32,
                                         .op = AGG_SUM,
                                         .count = rng_below(&w->rng, c == 2 ? 2 : COUNT_MAX)};
    give_streams(w);
}

static bool play(uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    bool well = false;

    open_world(w, seed);
    for (unsigned steps = 0; !all_done(w) && steps < STEPS_MAX; steps++)
        step(w);
    well = all_done(w) && wrong_elements(w) == 0 && w->node.not_understood == 0;
    if (!well)
        printf("\n  seed %" PRIu64 ": %s, %u wrong elements, %u packets not understood\n", seed,
               all_done(w) ? "done" : "no end", wrong_elements(w), w->node.not_understood);
    for (unsigned r = 0; r < w->workers; r++)
        free(w->ranks[r].stream);
    free(w);
    return well;
}

TEST(our_worker_needs_nothing_but_the_papers_switch)
{
    const uint64_t seed = rng_seed(1);

    for (uint64_t i = 0; i < unit_cases(60); i++)
        CU_ASSERT(play(seed + i));
}
