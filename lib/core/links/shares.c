#include "links/shares.h"

#include "switchml/stream.h"

enum {
    LONG_BYTES = 256 << 10, /* of a call that is measured */
    LONG_PACKETS = 32,      /* at a link, ... */
    WEIGHT = 64,            /* of a long call; others count once */
    FIRST = 3 * WEIGHT,     /* behind which ranks agree at first; then behind ... */
    TIMES = 3,              /* so many times as much, ... */
    EVERY = 64 * WEIGHT,    /* and at last behind every so much */
    LEAST = 64,             /* a link has at least this part of its even share */
    HARDLY = 32,            /* shares stay if none changes by more than this part of it */
    KIB = 1024,
    RATE_MAX = INT32_MAX, /* so many links' do not overflow */
    NS_PER_S = 1000000000,
};

void shares_init(struct shares *s, unsigned n, unsigned ranks, enum xfer_format format, bool on)
{
    *s = (struct shares){.on = on, .n = n, .ranks = ranks, .format = format, .next = FIRST};
    for (unsigned i = 0; i < n; i++)
        s->share[i] = SML_SHARE_WHOLE / n;
}

void shares_note_begin(struct shares *s, unsigned place, uint64_t packets, bool idle, uint64_t now)
{
    struct shares_rate *r = &s->rate[place];

    if (idle) {
        r->began = now;
        r->first = r->packets = 0;
    }
    r->packets += packets;
}

/* From the first result of a stretch of calls to its last: that others are late to begin is not the link's
 * fault. */
void shares_note_results(struct shares *s, unsigned place, uint64_t newest, bool done)
{
    struct shares_rate *r = &s->rate[place];

    if (r->packets == 0)
        return;
    if (r->first == 0 && newest > r->began)
        r->first = newest;
    if (!done)
        return;
    if (r->packets >= LONG_PACKETS && newest > r->first) {
        r->all_packets += r->packets;
        r->all_ns += newest - r->first;
    }
    r->packets = 0;
}

static bool is_long(const struct xfer_call *c)
{
    return (c->collective == XFER_ALLREDUCE || c->collective == XFER_REDUCE) &&
           c->count * agg_element_size(c->type, c->op) >= LONG_BYTES;
}

bool shares_due(struct shares *s, const struct xfer_call *call)
{
    if (!s->on || (s->calls += is_long(call) ? WEIGHT : 1) < s->next)
        return false;
    s->next = s->next * TIMES < EVERY ? s->next * TIMES : s->next + EVERY;
    return true;
}

/* KiB a second; 0: nothing was measured. */
static uint32_t measured(const struct shares_rate *r, uint16_t chunk_bytes)
{
    const double kib = (double)r->all_packets * chunk_bytes / KIB;
    const double rate = r->all_ns > 0 ? kib * NS_PER_S / (double)r->all_ns : 0;

    return rate < RATE_MAX ? (uint32_t)rate : RATE_MAX;
}

/* What this rank says of a place. */
static void say(struct shares *s, unsigned i, uint32_t standby, uint16_t chunk_bytes)
{
    s->mine[i][SHARES_SPEED] = measured(&s->rate[i], chunk_bytes);
    s->mine[i][SHARES_STANDBY] = standby;
    s->mine[i][SHARES_STANDBY_TURNED] = ~standby;
    for (unsigned bit = 0; bit < SHARES_BITS; bit++)
        s->bits[i][bit] = (float)(standby >> bit & 1);
    s->rate[i].all_packets = s->rate[i].all_ns = 0;
}

void shares_ask(struct shares *s, const struct links_seen seen[], const uint16_t chunk_bytes[],
                struct xfer_call *call, struct xfer_segment *tensor)
{
    for (unsigned i = 0; i < s->n; i++)
        say(s, i, seen[i].standby, chunk_bytes[i]);
    *call = (struct xfer_call){.collective = XFER_ALLREDUCE};
    if (xfer_has_exponents(s->format)) {
        call->type = AGG_F32;
        call->op = AGG_SUM;
        *tensor = (struct xfer_segment){.in = s->bits, .out = s->sums, .count = (uint64_t)s->n * SHARES_BITS};
    } else {
        call->type = AGG_U32;
        call->op = AGG_MIN;
        *tensor =
            (struct xfer_segment){.in = s->mine, .out = s->least, .count = (uint64_t)s->n * SHARES_WORDS};
    }
    call->count = tensor->count;
    s->agreeing = true;
    s->known = false;
}

/* Of a bit that all ranks have the sum is their number, of one that none has 0, but for rounding. */
static uint32_t common_bits(const struct shares *s, const float sums[SHARES_BITS])
{
    uint32_t name = 0;

    for (unsigned bit = 0; bit < SHARES_BITS; bit++)
        if (sums[bit] > (float)s->ranks - 0.5F)
            name |= UINT32_C(1) << bit;
        else if (!(sums[bit] < 0.5F))
            return 0;
    return name;
}

static uint32_t common_standby(const struct shares *s, unsigned i)
{
    if (xfer_has_exponents(s->format))
        return common_bits(s, s->sums[i]);
    const uint32_t name = s->least[i][SHARES_STANDBY];
    return name == ~s->least[i][SHARES_STANDBY_TURNED] ? name : 0;
}

/* What is back is measured soon: until then it has the share that its place had elsewhere. */
void shares_hear(struct shares *s, uint32_t standby[LINKS_MAX])
{
    s->known = true;
    for (unsigned i = 0; i < s->n; i++) {
        standby[i] = common_standby(s, i);
        if (standby[i] != 0)
            s->next = s->calls + FIRST;
    }
}

/* By what all ranks have, so that all come to the same. False: some rank has not measured some link, or
 * nothing is to change. */
static bool divide(const struct shares *s, uint32_t share[])
{
    uint64_t all = 0;
    bool differs = false;

    for (unsigned i = 0; i < s->n; i++) {
        if (s->least[i][SHARES_SPEED] == 0)
            return false;
        all += s->least[i][SHARES_SPEED];
    }
    for (unsigned i = 0; i < s->n; i++) {
        const uint32_t least = SML_SHARE_WHOLE / s->n / LEAST, now = s->share[i];
        share[i] = (uint32_t)(SML_SHARE_WHOLE * (uint64_t)s->least[i][SHARES_SPEED] / all);
        share[i] = share[i] < least ? least : share[i];
        differs |= (share[i] > now ? share[i] - now : now - share[i]) > now / HARDLY;
    }
    return differs;
}

bool shares_end(struct shares *s)
{
    uint32_t share[LINKS_MAX], sum = 0, whole = 0;

    s->agreeing = false;
    if (!divide(s, share))
        return false;
    s->at[0] = 0;
    for (unsigned i = 0; i < s->n; i++)
        whole += share[i];
    for (unsigned i = 0; i < s->n; i++) {
        s->share[i] = share[i];
        sum += share[i];
        s->at[i + 1] = (uint32_t)((uint64_t)sum * SML_SHARE_WHOLE / whole);
    }
    return true;
}
