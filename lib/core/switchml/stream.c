#include "switchml/stream.h"

#include <errno.h>
#include <string.h>

#include "switchml/stream_state.h"
#include "transfer/chunks.h"
#include "transfer/parts.h"

enum { ALIGN = 64 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Every rank needs all results where those have exponents. */
static bool format_ok(const struct sml_stream_config *c)
{
    if (!xfer_has_exponents(c->format))
        return c->format == XFER_FORMAT_TYPED && !c->plain;
    return c->format < XFER_FORMATS && c->checksum != XFER_CHECKSUM_CRC32C && !c->buffer_reduces &&
           (!c->plain || sml_size_code(c->chunk_bytes) < SML_SIZE_AGREED);
}

static bool checksum_ok(const struct sml_stream_config *c)
{
    if (c->checksum == XFER_CHECKSUM_KEYED)
        return c->shared != NULL && !c->plain;
    return c->checksum == XFER_CHECKSUM_NONE || c->checksum == XFER_CHECKSUM_CRC32C;
}

static bool look_up_ok(const struct sml_stream_config *c)
{
    return c->look_up == 0 || (c->format == XFER_FORMAT_TYPED && sml_looks_up(c->look_up) &&
                               sml_element_of(c->look_up).in != 0 && c->chunk_bytes >= SML_LOOK_UP_CHUNK_MIN);
}

static bool leave_ok(const struct sml_stream_config *c)
{
    return !c->may_leave || c->format == XFER_FORMAT_TYPED;
}

static bool quorum_ok(const struct sml_stream_config *c)
{
    return !c->quorum || (c->format == XFER_FORMAT_TYPED &&
                          c->chunk_bytes + ranks_map_bytes(c->workers) <= SML_MAX_CHUNK_BYTES);
}

static bool empties_ok(const struct sml_stream_config *c)
{
    return c->empties ? c->format == XFER_FORMAT_TYPED && !c->quorum : !c->interleaved;
}

static bool config_ok(const struct sml_stream_config *c)
{
    return c->workers >= 1 && c->workers <= AGG_MAX_RANKS && c->rank < c->workers && c->slots >= 1 &&
           c->slots <= SML_MAX_SLOTS && (c->slots & (c->slots - 1)) == 0 && c->chunk_bytes >= 64 &&
           c->chunk_bytes <= SML_MAX_CHUNK_BYTES && c->chunk_bytes % 4 == 0 && checksum_ok(c) &&
           format_ok(c) && look_up_ok(c) && leave_ok(c) && quorum_ok(c) && empties_ok(c) &&
           xfer_queue_room(c->calls) != 0;
}

static size_t names_bytes(const struct sml_stream_config *c)
{
    return c->quorum ? ranks_map_bytes(c->workers) : 0;
}

static size_t auth_bytes(const struct sml_stream_config *c)
{
    return c->checksum == XFER_CHECKSUM_KEYED ? aligned(xfer_auth_footprint(c->chunk_bytes + names_bytes(c)))
                                              : 0;
}

/* A new life of the job begins at this position. */
static void begin_life(struct sml_stream *s, uint64_t position, const struct keys_secret *shared)
{
    s->round = position >> 32 << 32;
    if (s->auth != NULL)
        xfer_auth_init(s->auth, shared, s->cfg.chunk_bytes + s->names_bytes);
}

size_t sml_stream_footprint(const struct sml_stream_config *cfg)
{
    if (!config_ok(cfg))
        return 0;
    return aligned(sizeof(struct sml_stream)) + aligned(cfg->slots * sizeof(struct sml_flight)) +
           aligned(sml_kept_chunks(cfg) * sizeof(struct sml_kept)) + aligned(sml_exponents(cfg)) +
           aligned(2u * cfg->slots * names_bytes(cfg)) +
           aligned(xfer_queue_room(cfg->calls) * sizeof(uint64_t)) +
           aligned(xfer_queue_room(cfg->calls) * sizeof(struct sml_order)) +
           aligned(auth_bytes(cfg) + (size_t)sml_kept_chunks(cfg) * sml_kept_bytes(cfg));
}

/* Some slots stay in reserve: while a chunk is held up by a loss, as many more can still be sent. */
static uint32_t default_window(uint32_t slots)
{
    uint32_t half = slots / 2;
    return half >= 32 ? half : slots < 32 ? slots : 32;
}

static void empty_lists(struct sml_stream *s)
{
    for (unsigned asks = 0; asks <= SML_ASKS_MAX; asks++)
        s->sent[asks] = SML_LIST_EMPTY;
    s->due = SML_LIST_EMPTY;
}

struct sml_stream *sml_stream_init(void *mem, const struct sml_stream_config *cfg)
{
    struct sml_stream *s = mem;
    uint8_t *p = mem;

    memset(s, 0, sizeof(*s));
    s->cfg = *cfg;
    p += aligned(sizeof(*s));
    s->flights = (struct sml_flight *)p;
    memset(p, 0, cfg->slots * sizeof(struct sml_flight));
    p += aligned(cfg->slots * sizeof(struct sml_flight));
    s->kept = (struct sml_kept *)p;
    /* A faulty switch may ask for chunks that were never kept: they count as chunks without elements. */
    memset(p, 0, sml_kept_chunks(cfg) * sizeof(struct sml_kept));
    p += aligned(sml_kept_chunks(cfg) * sizeof(struct sml_kept));
    s->exponents = (int8_t *)p;
    memset(p, NUM_NO_BLOCK, sml_exponents(cfg));
    p += aligned(sml_exponents(cfg));
    s->numbers = num_loops_for(cfg->kernels);
    s->names_bytes = names_bytes(cfg);
    s->names = memset(p, 0, 2u * cfg->slots * s->names_bytes);
    p += aligned(2u * cfg->slots * s->names_bytes);
    s->queue = (struct xfer_queue){.base = (uint64_t *)p, .room = xfer_queue_room(cfg->calls)};
    p += aligned(s->queue.room * sizeof(uint64_t));
    s->orders = (struct sml_order *)p;
    memset(p, 0, s->queue.room * sizeof(struct sml_order));
    p += aligned(s->queue.room * sizeof(struct sml_order));
    s->auth = cfg->checksum == XFER_CHECKSUM_KEYED ? (struct xfer_auth *)p : NULL;
    p += auth_bytes(cfg);
    s->kept_data = p;

    /* Positions begin above 2^32, so that one can look back from the first. */
    s->shared = (UINT64_C(1) << 32) + cfg->first_tag;
    begin_life(s, s->shared, cfg->shared);
    s->cfg.shared = NULL;
    s->base = s->end = s->head = s->next = s->oldest = s->sent_end = s->shared;
    s->held = UINT64_MAX;
    empty_lists(s);

    xfer_rtt_init(&s->rtt, cfg->rto_first_ns, cfg->rto_min_ns, cfg->rto_max_ns);
    uint32_t window = cfg->window_max ? cfg->window_max : default_window(cfg->slots);
    xfer_reorder_init(&s->reorder);
    xfer_window_init(&s->window, window < cfg->slots ? window : cfg->slots, cfg->slots);
    return s;
}

static bool call_ok(const struct sml_stream *s, const struct xfer_call *call)
{
    const uint8_t code = agg_code(call->type, call->op);

    if (call->op == SML_LOOK_UP)
        return s->cfg.look_up != 0 && code == s->cfg.look_up && call->type == code &&
               call->collective == XFER_ALLREDUCE && call->root < SML_MEANS + SML_GROUP;
    switch (call->collective) {
    case XFER_ALLREDUCE:
        if (call->root != 0)
            return false;
        break;
    case XFER_NORMS:
        if (call->root != 0 || s->cfg.look_up == 0 || code != agg_code(AGG_F32, AGG_MAX))
            return false;
        break;
    case XFER_REDUCE:
        if (call->root >= s->cfg.workers)
            return false;
        break;
    case XFER_BROADCAST:
    case XFER_GATHER:
    case XFER_SCATTER:
        if (call->root >= s->cfg.workers)
            return false;
        return s->cfg.empties && code == agg_code(AGG_U8, AGG_BOR);
    case XFER_ALLGATHER:
        return s->cfg.empties && code == agg_code(AGG_U8, AGG_BOR);
    case XFER_REDUCE_SCATTER:
        return s->cfg.format == XFER_FORMAT_TYPED && !s->cfg.quorum &&
               agg_element_size(call->type, call->op) != 0;
    case XFER_BARRIER:
        return s->cfg.format == XFER_FORMAT_TYPED && !s->cfg.quorum && call->root == 0 && call->count == 0 &&
               code == agg_code(AGG_U8, AGG_BOR);
    default:
        return false;
    }
    if (xfer_has_exponents(s->cfg.format))
        return xfer_blocks_carry(s->cfg.format, call->type, call->op);
    return agg_element_size(call->type, call->op) != 0;
}

static bool segments_ok(const struct sml_stream *s, const struct xfer_call *call,
                        const struct xfer_segment segments[], size_t n)
{
    if (xfer_copies(call->collective))
        return true;
    return xfer_segments_given(segments, n,
                               call->collective != XFER_REDUCE_SCATTER &&
                                   xfer_gives(call->collective, call->root, s->cfg.rank));
}

/* Bytes that an element of a call takes, which is carried. */
static struct sml_element element_of(const struct sml_stream *s, const struct xfer_call *call)
{
    if (!xfer_has_exponents(s->cfg.format))
        return sml_element_of(agg_code(call->type, call->op));
    const size_t element = xfer_blocks_of(s->cfg.format, s->cfg.chunk_bytes, s->cfg.slots, call).element;
    return (struct sml_element){element, element};
}

/* element: the call's. */
static uint64_t packets(const struct sml_stream *s, const struct xfer_call *call,
                        const struct sml_share *share, size_t element)
{
    if (xfer_has_exponents(s->cfg.format)) {
        const struct xfer_blocks b = sml_blocks_of(s, call, share);
        return xfer_blocks_packets(&b);
    }
    return xfer_chunk_count(s->cfg.chunk_bytes, element, share->count * element);
}

uint64_t sml_stream_packets(const struct sml_stream *s, const struct xfer_call *call)
{
    const struct sml_share share = sml_share_of(s, call);

    return packets(s, call, &share, element_of(s, call).out);
}

/* A call that is to begin, as far as it is known. */
struct beginning {
    struct xfer_call call;
    struct sml_element element;
    struct sml_share share;
    uint64_t packets;
    struct xfer_segment *segments;
    size_t n;
    struct xfer_segment sum; /* as of struct sml_order */
};

/* Where its tensors are, and how many elements they have. */
static int measure(const struct sml_stream *s, struct beginning *b)
{
    b->element = element_of(s, &b->call);
    if (!xfer_segments_measure(b->segments, b->n, b->element.in, &b->call.count))
        return -EOVERFLOW;
    if (b->element.out != b->element.in) {
        if (b->n != 1)
            return -EINVAL;
        b->sum = b->segments[0];
        if (!xfer_segments_measure(&b->sum, 1, b->element.out, &b->call.count))
            return -EOVERFLOW;
    }
    b->share = sml_share_of(s, &b->call);
    b->packets = packets(s, &b->call, &b->share, b->element.out);
    return b->packets > UINT64_C(1) << 31 ? -EOVERFLOW : 0;
}

/* Puts it behind the others. single: its segment is kept in its place, where the turnout of one that has
 * ended was until now. */
static void append(struct sml_stream *s, const struct beginning *b, bool single)
{
    struct sml_order *o = sml_order_at(s, s->queue.next);

    o->call = b->call;
    o->call.seq = s->queue.next;
    o->element = b->element;
    o->share = b->share;
    o->owner_adds = s->cfg.empties && xfer_owner_adds(s->cfg.kernels, &b->call, s->cfg.workers);
    if (single)
        o->tensor = b->segments[0];
    o->segments = single ? &o->tensor : b->segments;
    o->segment_count = b->n;
    o->sum = b->sum;
    o->sums = b->element.out != b->element.in ? &o->sum : o->segments;
    o->base = s->end;
    o->column =
        s->cfg.interleaved ? xfer_interleaved_column(b->call.collective, b->packets, s->cfg.workers) : 0;
    o->roll = s->roll;
    if (s->cfg.quorum)
        xfer_turnout_begin(&o->turnout);
    xfer_queue_begin(&s->queue, s->end);
    s->end += b->packets;
}

static int begin(struct sml_stream *s, const struct xfer_call *call, struct xfer_segment segments[], size_t n,
                 bool single, uint64_t now)
{
    struct beginning b = {.call = *call, .segments = segments, .n = n};

    if (xfer_queue_full(&s->queue))
        return -EBUSY;
    if (!call_ok(s, call) || !segments_ok(s, call, segments, n))
        return -EINVAL;
    int rc = measure(s, &b);
    if (rc < 0)
        return rc;
    if (xfer_queue_empty(&s->queue))
        s->progress = now;
    xfer_window_share(&s->window, call->shares, s->in_flight == 0, s->next);
    append(s, &b, single);
    sml_stream_end_if_done(s);
    sml_stream_skip(s, s->gone, now);
    return 0;
}

int sml_stream_begin_segments(struct sml_stream *s, const struct xfer_call *call,
                              struct xfer_segment segments[], size_t n, uint64_t now)
{
    return begin(s, call, segments, n, false, now);
}

void sml_stream_share(struct sml_stream *s, uint32_t from, uint32_t to)
{
    s->share_from = from;
    s->share_to = to;
}

int sml_stream_begin(struct sml_stream *s, const struct xfer_call *call, const void *in, void *out,
                     uint64_t now)
{
    struct xfer_segment tensor = {.in = in, .out = out, .count = call->count};

    return begin(s, call, &tensor, 1, true, now);
}

bool sml_stream_buffered(const struct sml_stream *s)
{
    return s->oldest < s->base;
}

uint64_t sml_stream_left(const struct sml_stream *s)
{
    return s->end - s->oldest;
}

const struct xfer_call *sml_stream_oldest_call(const struct sml_stream *s)
{
    return s->oldest < s->end ? sml_stream_chunk(s, s->oldest).call : NULL;
}

uint32_t sml_stream_completed(const struct sml_stream *s)
{
    const struct xfer_call *oldest = sml_stream_oldest_call(s);
    return oldest ? oldest->seq : s->queue.next;
}

uint32_t sml_stream_ended(const struct sml_stream *s)
{
    return s->queue.first;
}

uint32_t sml_stream_oldest(const struct sml_stream *s)
{
    return (uint32_t)s->oldest;
}

/* With a quorum what this rank lacks, too, may be older than what is kept: it has to do without. */
static bool can_go_back(const struct sml_stream *s, int64_t chunks)
{
    if (s->cfg.quorum)
        return chunks <= s->cfg.slots;
    return chunks >= 0 && (uint64_t)chunks <= s->oldest - s->shared;
}

int sml_stream_resume(struct sml_stream *s, uint8_t job, uint32_t first_tag, const struct keys_secret *shared,
                      uint64_t now)
{
    const int64_t back = (int32_t)((uint32_t)s->oldest - first_tag);
    const uint64_t first = s->oldest - (uint64_t)back;
    if (s->cfg.plain || !can_go_back(s, back))
        return -ENODATA;

    for (uint32_t slot = 0; slot < s->cfg.slots; slot++) {
        bool have = s->flights[slot].have;
        s->flights[slot] = (struct sml_flight){.have = have};
    }
    empty_lists(s);
    s->in_flight = 0;
    s->cfg.job = job;
    s->head = s->next = first < s->oldest ? first : s->oldest;
    begin_life(s, first, shared);
    xfer_window_restart(&s->window, s->next);
    xfer_reorder_restart(&s->reorder, s->next);
    s->furthest = s->head;
    s->quiet_since = now;
    s->backoff = s->silent = 0;
    s->waiting_position = 0;
    s->rejected = false;
    sml_stream_skip(s, first, now);
    return 0;
}

enum xfer_status sml_stream_status(const struct sml_stream *s)
{
    if (s->mismatched)
        return XFER_MISMATCH;
    if (s->rejected)
        return XFER_REJECTED;
    return xfer_queue_empty(&s->queue) ? XFER_DONE : XFER_RUNNING;
}

const struct xfer_mismatch *sml_stream_mismatch(const struct sml_stream *s)
{
    return &s->mismatch;
}

uint64_t sml_stream_progress(const struct sml_stream *s)
{
    return s->progress;
}

unsigned sml_stream_missing(const struct sml_stream *s, uint16_t ranks[], unsigned max)
{
    if (s->waiting_position != s->head)
        return 0;
    return ranks_map_lacks(s->waiting, s->cfg.workers, ranks, max);
}

void sml_stream_stats(const struct sml_stream *s, struct xfer_stats *out)
{
    *out = s->stats;
    out->srtt_ns = s->rtt.srtt;
    out->rttvar_ns = s->rtt.var;
    out->rto_ns = xfer_rtt_rto(&s->rtt);
    out->window = s->window.size;
    out->unanswered = s->silent;
}

bool sml_stream_leave(struct sml_stream *s)
{
    if (!s->cfg.may_leave || sml_stream_status(s) != XFER_RUNNING ||
        sml_oldest_end(s) > s->oldest + s->cfg.slots)
        return false;
    sml_stream_keep(s);
    return true;
}
