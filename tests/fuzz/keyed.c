/* A keyed job: two ranks and their switch over a network that loses what the input says, and beside them
 * somebody who hears all and sends whatever the input says, but lacks the secret. Whatever he sends that is
 * not a copy of what was sent in this life of the job is dropped; and every sum is right. */

#include "fuzz.h"
#include "kernels_chosen.h"
#include "placed.h"
#include "toy_keys.h"

enum {
    RANKS = 2,
    SLOTS = 4,
    CHUNK_BYTES = 64,
    COUNT = 100, /* int32 */
    STEPS_MAX = 300,
    SENT_MAX = 2048,
    PAYLOAD_MAX = SML_HEADER_BYTES + CHUNK_BYTES + XFER_TRAILER_MAX + 64, /* MISMATCH, and longer ones */
};
static const uint64_t MS = 1000000;

struct packet {
    unsigned rank; /* who sent it, or gets it; RANKS: all */
    bool up;
    size_t bytes;
    uint8_t payload[PAYLOAD_MAX];
};

struct world {
    struct keys_secret shared;
    struct sml_pool_config cfg;
    struct sml_pool *pool;
    struct sml_stream *stream[RANKS];
    uint64_t now;
    unsigned sent; /* in this life of the job */
    struct packet heard[SENT_MAX];
    int32_t in[RANKS][COUNT], out[RANKS][COUNT];
    unsigned calls;
};

static void note(struct world *w, bool up, unsigned rank, const uint8_t *payload, size_t bytes)
{
    struct packet *p = &w->heard[w->sent];
    REQUIRE(bytes <= PAYLOAD_MAX && w->sent < SENT_MAX);
    *p = (struct packet){.rank = rank, .up = up, .bytes = bytes};
    memcpy(p->payload, payload, bytes);
    w->sent++;
}

static bool is_copy(const struct world *w, bool up, unsigned rank, const uint8_t *payload, size_t bytes)
{
    for (unsigned i = 0; i < w->sent; i++)
        if (w->heard[i].up == up && (w->heard[i].rank == rank || w->heard[i].rank == RANKS) &&
            w->heard[i].bytes == bytes && memcmp(w->heard[i].payload, payload, bytes) == 0)
            return true;
    return false;
}

static void to_rank(struct world *w, unsigned rank, const uint8_t *payload, size_t bytes, bool copy)
{
    enum xfer_receive worth = sml_stream_receive(w->stream[rank], payload, bytes, w->now);
    REQUIRE(copy || (worth != XFER_RX_RESULT && worth != XFER_RX_NEWS));
}

static void to_all(struct world *w, const struct agg_verdict *v, unsigned lost)
{
    bool any_brief = false;
    note(w, false, RANKS, v->payload, v->bytes);
    for (unsigned r = 0; r < RANKS; r++)
        any_brief |= !agg_wants(v, r);
    if (any_brief)
        note(w, false, RANKS, v->brief, v->brief_bytes);
    for (unsigned r = 0; r < RANKS; r++)
        if ((lost >> r & 1) == 0)
            to_rank(w, r, agg_wants(v, r) ? v->payload : v->brief,
                    agg_wants(v, r) ? v->bytes : v->brief_bytes, true);
}

static void to_switch(struct world *w, unsigned rank, const uint8_t *payload, size_t bytes, unsigned lost)
{
    const bool copy = is_copy(w, true, rank, payload, bytes);
    struct sml_packet p;
    struct agg_verdict v;
    uint8_t *exact = malloc(bytes ? bytes : 1);
    memcpy(exact, payload, bytes);
    if (sml_parse(&p, exact, bytes) == SML_OK && sml_pool_locate(w->pool, &p, 0) != NULL) {
        sml_pool_apply(w->pool, sml_pool_locate(w->pool, &p, 0), (uint16_t)rank, &p, NULL, w->now, &v);
        enum agg_action action = sml_reasons[v.reason].action;
        REQUIRE(copy || action == AGG_DROP);
        if (action == AGG_TO_ALL)
            to_all(w, &v, lost);
        if (action == AGG_REPLY) {
            note(w, false, v.reason == SML_SEND_ONE ? RANKS : rank, v.payload, v.bytes);
            to_rank(w, rank, v.payload, v.bytes, true);
        }
    }
    free(exact);
}

static void check_sums(const struct world *w, unsigned rank)
{
    for (unsigned i = 0; i < COUNT; i++)
        REQUIRE(w->out[rank][i] == w->in[0][i] + w->in[1][i]);
}

static bool is_idle(const struct world *w)
{
    return sml_stream_status(w->stream[0]) == XFER_DONE && sml_stream_status(w->stream[1]) == XFER_DONE;
}

static void begin(struct world *w)
{
    const struct xfer_call call = {
        .collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = COUNT};
    if (!is_idle(w))
        return;
    for (unsigned r = 0; r < RANKS; r++) {
        for (unsigned i = 0; i < COUNT; i++)
            w->in[r][i] = (int32_t)(r + 1) * 1000 + (int32_t)(i * (w->calls + 3));
        memset(w->out[r], 0, sizeof w->out[r]);
        REQUIRE(sml_stream_begin(w->stream[r], &call, w->in[r], w->out[r], w->now) == 0);
    }
    w->calls++;
}

/* What rank has to send, but for what is lost; results are lost as `lost` says. */
static void poll(struct world *w, unsigned rank, uint8_t loses, unsigned lost)
{
    struct xfer_send send;
    uint8_t payload[PAYLOAD_MAX];
    for (; w->sent + 8 < SENT_MAX && sml_stream_poll(w->stream[rank], w->now, &send); loses >>= 1) {
        size_t bytes = xfer_send_copy(&send, payload);
        note(w, true, rank, payload, bytes);
        if ((loses & 1) == 0)
            to_switch(w, rank, payload, bytes, lost);
    }
    if (sml_stream_status(w->stream[rank]) == XFER_DONE && w->calls > 0)
        check_sums(w, rank);
}

/* What was heard, or anything, or both. */
static void forge(struct world *w, struct input *in)
{
    uint8_t payload[PAYLOAD_MAX] = {0}, how = take8(in), changes = how >> 5;
    const struct packet *was = w->sent > 0 ? &w->heard[take16(in) % w->sent] : NULL;
    size_t bytes = was ? was->bytes : take8(in) % PAYLOAD_MAX;
    if (was)
        memcpy(payload, was->payload, bytes);
    for (; changes > 0 && bytes > 0; changes--)
        payload[take8(in) % bytes] = take8(in);
    if (how & 1)
        bytes = take8(in) % (bytes + 1);
    if (how & 2) { /* as in a job that is not keyed */
        payload[0] = (uint8_t)((payload[0] & 0xf0) | SML_SIZE_AGREED);
        bytes = bytes > SML_HEADER_BYTES + XFER_AUTH_BYTES ? bytes - XFER_AUTH_BYTES : bytes;
    }
    unsigned rank = how >> 2 & 1;
    if (how & 8)
        to_switch(w, rank, payload, bytes, 0);
    else
        to_rank(w, rank, payload, bytes, is_copy(w, false, rank, payload, bytes));
}

static void open_pool(struct world *w)
{
    w->cfg.shared = &w->shared;
    w->pool = pool_of(&w->cfg);
}

/* All that was sent before is of an earlier life: heard is kept, for it to be copied, but counts as forged.
 */
static void restart(struct world *w)
{
    uint32_t first = sml_stream_oldest(w->stream[0]), other = sml_stream_oldest(w->stream[1]);
    w->cfg.first_tag = (int32_t)(other - first) < 0 ? other : first;
    w->cfg.resumed = true;
    w->shared.secret[1]++;
    free(w->pool);
    open_pool(w);
    for (unsigned r = 0; r < RANKS; r++)
        REQUIRE(sml_stream_resume(w->stream[r], w->cfg.job, w->cfg.first_tag, &w->shared, w->now) == 0);
    for (unsigned i = 0; i < w->sent; i++)
        w->heard[i].rank = RANKS + 1; /* nobody's */
}

static void step(struct world *w, struct input *in)
{
    uint8_t what = take8(in);
    switch (what % 8) {
    case 0:
        begin(w);
        break;
    case 1:
    case 2:
        w->now += take8(in) * MS;
        poll(w, what % 2, take8(in), what >> 4 & 3);
        break;
    case 3:
        if (what >= 0xf0)
            restart(w);
        break;
    default:
        forge(w, in);
        break;
    }
}

static void start(struct world *w, struct input *in)
{
    w->shared = (struct keys_secret){.library = &toy_library};
    w->now = 1000 * MS;
    w->cfg = (struct sml_pool_config){.workers = RANKS,
                                      .slots = SLOTS,
                                      .chunk_bytes = CHUNK_BYTES,
                                      .job = 3,
                                      .checksum = XFER_CHECKSUM_KEYED,
                                      .mode = XFER_ORDERED,
                                      .first_tag = take32(in),
                                      .kernels = kernels_or_exit()};
    open_pool(w);
    for (unsigned r = 0; r < RANKS; r++) {
        const struct sml_stream_config cfg = stream_config_of(&w->cfg, r);
        w->stream[r] = stream_of(&cfg);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world *w = calloc(1, sizeof *w);
    start(w, &in);
    for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
        step(w, &in);
    for (unsigned i = 0; i < 200 && !is_idle(w); i++) {
        w->now += 200 * MS;
        w->sent = 0; /* room */
        for (unsigned r = 0; r < RANKS; r++)
            poll(w, r, 0, 0);
    }
    REQUIRE(is_idle(w));
    for (unsigned r = 0; r < RANKS; r++) {
        if (w->calls > 0)
            check_sums(w, r);
        free(w->stream[r]);
    }
    free(w->pool);
    free(w);
    return 0;
}
