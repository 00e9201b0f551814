/* A stream: any sequence of collectives, packets from the switch, restarts and passing of time. The oracle
 * keeps its own copy of the tensor, updated with each packet that the stream says it took as a result. An
 * input is the configuration, then a byte for each step and its arguments. */
#include <errno.h>

#include "fuzz.h"
#include "kernels_chosen.h"
#include "scattered.h"
#include "streamed.h"
#include "tags.h"
#include "transfer/chunks.h"
#include "wire/bytes.h"

#define US UINT64_C(1000)

enum {
    STEPS_MAX = 300,
    RANK = 1,
    WORKERS = 4,
    PAYLOAD_MAX = SML_HEADER_BYTES + 256 + XFER_TRAILER_BYTES,
    ROLL_MAX = 256, /* chunks of a call */
};

struct world {
    struct sml_stream_config cfg;
    struct sml_stream *stream;
    uint64_t now;

    /* The collective at hand, or the last one. */
    struct xfer_call call;
    uint32_t first_tag;           /* of its first chunk */
    size_t bytes;                 /* of its tensor */
    uint8_t *original, *expected; /* what this rank contributes, and the sum, in one piece */
    uint8_t *in, *out;            /* memory of the segments */
    struct scattered scattered;
    bool wants;

    uint32_t shared; /* by the results so far, every rank has those of all chunks before this one */
    /* With a quorum. */
    struct xfer_roll roll[ROLL_MAX];
    uint32_t gone; /* by what the switch said, results of chunks before this one cannot be had any more */
    bool late[ROLL_MAX], counted[ROLL_MAX]; /* nor can those of these chunks */
    bool misled; /* resumed from where no switch with honest ranks would: all that counts now is memory */
};

static struct sml_element element(const struct world *w)
{
    return sml_element_of(agg_code(w->call.type, w->call.op));
}

static void convert(const struct world *w, void *out, const void *in, size_t bytes)
{
    w->cfg.kernels->convert[sml_order_of(agg_code(w->call.type, w->call.op))](out, in, bytes);
}

/* Whether the tag is one of this collective's chunks; which bytes of the sum it is. */
static bool find_chunk(const struct world *w, uint32_t tag, uint64_t *offset, size_t *bytes)
{
    uint64_t c = tag - w->first_tag;
    if (!w->in || c >= xfer_chunk_count(w->cfg.chunk_bytes, element(w).out, w->bytes))
        return false;
    xfer_chunk_span(w->cfg.chunk_bytes, element(w).out, w->bytes, c, offset, bytes);
    return true;
}

/* Bytes of the map of ranks behind a result. */
static size_t names_bytes(const struct world *w)
{
    return w->cfg.quorum ? 1 : 0;
}

static bool is_missed(const struct world *w, uint32_t tag)
{
    return w->cfg.quorum && w->wants && w->roll[tag - w->first_tag].ranks == 0;
}

/* What cannot be had is 0. Nothing else is given up. */
static void note_missed(struct world *w)
{
    uint64_t offset;
    size_t bytes;
    for (uint32_t tag = w->first_tag; w->cfg.quorum && find_chunk(w, tag, &offset, &bytes); tag++)
        if (is_missed(w, tag)) {
            REQUIRE(tag_before(tag, w->gone) || w->late[tag - w->first_tag]);
            REQUIRE(w->counted[tag - w->first_tag] || !w->roll[tag - w->first_tag].mine);
            memset(w->expected + offset, 0, bytes);
        }
}

static bool is_busy(const struct world *w)
{
    bool may_be_ahead = w->cfg.buffer_reduces && !w->wants;
    uint64_t from = 0, offset;
    size_t bytes;
    if (w->cfg.may_leave) /* then what others have left behind does not count */
        return w->in && sml_stream_lacks(w->stream, &from, &offset, &bytes);
    return w->in && sml_stream_left(w->stream) > (may_be_ahead ? w->cfg.slots : 0);
}

static void free_tensors(struct world *w)
{
    if (w->out != w->in)
        free(w->out);
    free(w->in);
    free(w->original);
    free(w->expected);
    w->in = w->out = w->original = w->expected = NULL;
}

static void check_done(const struct world *w)
{
    if (!w->in || !w->wants || sml_stream_status(w->stream) != XFER_DONE)
        return;
    uint8_t *sum = malloc(w->bytes + 1);
    struct scattered sums = w->scattered;
    sums.element = element(w).out;
    scattered_get(&sums, sum);
    REQUIRE(memcmp(sum, w->expected, w->bytes) == 0);
    free(sum);
}

static int begin_call(struct world *w, struct xfer_call call)
{
    if (w->scattered.n == 1)
        return sml_stream_begin(w->stream, &call, w->in, w->out, w->now);
    call.count = 0; /* the stream's business */
    return sml_stream_begin_segments(w->stream, &call, w->scattered.segment, w->scattered.n, w->now);
}

static void begin(struct world *w, struct input *in)
{
    uint8_t what = take8(in), fill = take8(in), type = (uint8_t)(1 + what / 16 % AGG_C128);
    struct xfer_call call = {.collective = what & 1 ? XFER_REDUCE : XFER_ALLREDUCE,
                             .type = type,
                             .op = type == AGG_BOOL ? AGG_LOR : AGG_SUM,
                             .root = what & 1 ? what / 2 % WORKERS : 0,
                             .count = take8(in)};
    const bool looks_up = what >> 4 == 15 && w->cfg.look_up != 0;
    if (looks_up)
        call = (struct xfer_call){.collective = XFER_ALLREDUCE,
                                  .type = w->cfg.look_up,
                                  .op = SML_LOOK_UP,
                                  .root = what & 15,
                                  .count = call.count % 32};
    if (is_busy(w)) {
        REQUIRE(sml_stream_begin(w->stream, &call, w->in, w->in, w->now) == -EBUSY);
        return;
    }
    if (sml_stream_status(w->stream) == XFER_MISMATCH)
        return;
    check_done(w);
    free_tensors(w);
    w->call = call;
    w->bytes = call.count * element(w).out;
    w->wants = xfer_gives(call.collective, call.root, RANK);
    w->first_tag = sml_stream_oldest(w->stream) + (uint32_t)sml_stream_left(w->stream);
    w->in = malloc(w->bytes + 1);
    w->original = malloc(w->bytes + 1);
    w->expected = malloc(w->bytes + 1);
    for (size_t i = 0; i < w->bytes; i++)
        w->original[i] = (uint8_t)(fill + 3 * i);
    w->out = !w->wants ? NULL : what & 8 && !looks_up ? w->in : calloc(1, w->bytes + 1);
    memset(w->roll, 0xff, sizeof w->roll);
    memset(w->late, 0, sizeof w->late);
    memset(w->counted, 0, sizeof w->counted);
    if (w->cfg.quorum)
        sml_stream_call_roll(w->stream, w->roll);
    w->scattered = scattered_cut(w->in, w->out, call.count, element(w).in, looks_up ? 0 : fill);
    scattered_put(&w->scattered, w->original);
    REQUIRE(begin_call(w, call) == 0);
    note_missed(w);
    REQUIRE(is_busy(w) ? sml_stream_status(w->stream) != XFER_DONE : w->cfg.buffer_reduces || w->cfg.quorum);
    check_done(w);                      /* all of it may be gone already */
    if (!is_busy(w) && w->in != w->out) /* the caller's again */
        memset(w->in, 0xdd, w->bytes);
}

/* The packet as it goes out, checked against the rules and the tensor. */
static void check_sent(const struct world *w, const struct xfer_send *send)
{
    uint8_t payload[PAYLOAD_MAX], body[PAYLOAD_MAX];
    struct sml_packet p;
    uint64_t offset;
    size_t bytes, skip;
    REQUIRE(send->head_bytes + send->body_bytes <=
            (size_t)SML_HEADER_BYTES + w->cfg.chunk_bytes + names_bytes(w));
    REQUIRE(sml_parse(&p, payload, xfer_send_copy(send, payload)) == SML_OK);
    REQUIRE(memcmp(xfer_send_body(send, body), payload + send->head_bytes, send->body_bytes) == 0);
    REQUIRE(sml_checksum_holds(&p, w->cfg.checksum, RANK));
    REQUIRE(p.kind == SML_DATA || p.kind == SML_OPEN || p.kind == SML_PROBE || p.kind == SML_RESTORE);
    REQUIRE(p.job == w->cfg.job && p.slot == sml_tag_slot(p.tag, w->cfg.slots) &&
            p.ver == sml_tag_ver(p.tag, w->cfg.slots));
    if (w->misled)
        return;
    int32_t ahead = (int32_t)(p.tag - sml_stream_oldest(w->stream));
    REQUIRE(ahead < (int32_t)w->cfg.slots && ahead >= -(int32_t)w->cfg.slots);
    if (p.kind == SML_PROBE || !find_chunk(w, p.tag, &offset, &bytes))
        return;
    skip = p.tag == w->first_tag ? XFER_CALL_BYTES : 0;
    if (p.kind == SML_RESTORE) {
        REQUIRE(!is_missed(w, p.tag) && p.body_bytes >= names_bytes(w));
        p.body_bytes -= names_bytes(w);
    } else {
        offset = offset / element(w).out * element(w).in;
        bytes = bytes / element(w).out * element(w).in;
    }
    REQUIRE(p.body_bytes == skip + bytes);
    if (p.kind != SML_RESTORE && is_missed(w, p.tag) && w->in == w->out) /* whatever is left of it */
        return;
    const uint8_t *tensor = p.kind == SML_RESTORE ? w->expected : w->original;
    convert(w, body, p.body + skip, bytes);
    REQUIRE(memcmp(body, tensor + offset, bytes) == 0);
}

static void poll(struct world *w, struct input *in)
{
    struct xfer_send send;
    (void)in;
    for (unsigned n = 0; streamed_sends(w->stream, w->cfg.slots, w->now, &n, &send);)
        check_sent(w, &send);
}

static void pass_time(struct world *w, struct input *in)
{
    w->now += take16(in) * US;
    poll(w, in);
}

/* What a packet that may be believed says of results that are gone. */
static void note_gone(struct world *w, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;
    uint64_t offset;
    size_t chunk;
    uint32_t gone;
    if (sml_parse(&p, payload, bytes) != SML_OK || !sml_checksum_holds(&p, w->cfg.checksum, XFER_SWITCH))
        return;
    if (p.kind == SML_LATE) {
        if (find_chunk(w, p.tag, &offset, &chunk)) {
            w->late[p.tag - w->first_tag] = true;
            w->counted[p.tag - w->first_tag] |= p.e1 & SML_FLAG_IN;
        }
        gone = get_be32(p.body) - 3u * w->cfg.slots + 1;
    } else if (p.kind == SML_DATA || p.kind == SML_OPEN) {
        gone = p.tag - 2u * w->cfg.slots + 1;
    } else {
        return;
    }
    if (tag_before(w->gone, gone))
        w->gone = gone;
}

static void receive(struct world *w, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;
    uint64_t offset;
    size_t chunk, skip;
    enum xfer_receive worth = sml_stream_receive(w->stream, payload, bytes, w->now);
    note_gone(w, payload, bytes);
    note_missed(w);
    if (worth != XFER_RX_RESULT)
        return;
    REQUIRE(sml_parse(&p, payload, bytes) == SML_OK && (p.kind == SML_DATA || p.kind == SML_OPEN));
    REQUIRE(sml_checksum_holds(&p, w->cfg.checksum, XFER_SWITCH));
    uint32_t shared = p.tag - xfer_held_parse(w->cfg.slots, p.e1);
    if (tag_before(w->shared, shared))
        w->shared = shared;
    if (tag_before(p.tag, w->first_tag)) { /* of a reduce from which the caller has returned */
        REQUIRE(w->cfg.may_leave ||
                (w->cfg.buffer_reduces && (p.body_bytes == 0 || p.body_bytes == XFER_CALL_BYTES)));
        return;
    }
    REQUIRE(find_chunk(w, p.tag, &offset, &chunk));
    skip = p.tag == w->first_tag ? XFER_CALL_BYTES : 0;
    if (!w->wants) {
        REQUIRE(w->cfg.quorum || p.body_bytes == 0 || p.body_bytes == skip);
        return;
    }
    REQUIRE(p.body_bytes == skip + chunk + names_bytes(w));
    if (w->cfg.quorum) {
        const uint8_t names = p.body[skip + chunk];
        const struct xfer_roll *roll = &w->roll[p.tag - w->first_tag];
        REQUIRE(names != 0 && roll->ranks == __builtin_popcount(names) && roll->mine == (names >> RANK & 1));
    }
    if (chunk > 0)
        convert(w, w->expected + offset, p.body + skip, chunk);
    check_done(w);
}

static size_t append_body(const struct world *w, const struct sml_packet *p, uint8_t fill, uint8_t *body)
{
    uint64_t offset;
    size_t bytes, n = 0;
    switch (p->kind) {
    case SML_OPEN:
        xfer_build_call(body, &w->call);
        n = XFER_CALL_BYTES;
        /* fall through */
    case SML_DATA:
        if (w->wants && w->cfg.may_leave && tag_before(p->tag, w->first_tag)) /* of a call that was left */
            return n + fill % (w->cfg.chunk_bytes / element(w).out + 1) * element(w).out;
        if (!w->wants || !find_chunk(w, p->tag, &offset, &bytes))
            return w->wants ? n : 0;
        memset(body + n, fill, bytes + names_bytes(w));
        return n + bytes + names_bytes(w);
    case SML_LATE:
        put_be32(body, p->tag + (fill % 8 + 1u) * w->cfg.slots);
        return SML_LATE_BYTES;
    default:
        return streamed_word(p, RANK, fill, body);
    }
}

/* Mostly what a switch would send now; any field may be off. */
static void take_packet(struct world *w, struct input *in)
{
    static const uint8_t kinds[] = {SML_DATA, SML_DATA, SML_DATA,   SML_NACK,
                                    SML_WAIT, SML_LATE, SML_REJECT, SML_MISMATCH};
    uint8_t payload[PAYLOAD_MAX + 64], odd = take8(in), fill = take8(in);
    struct sml_packet p = {.size_code = SML_SIZE_AGREED,
                           .checksum = w->cfg.checksum,
                           .job = w->cfg.job,
                           .e0 = agg_code(w->call.type, w->call.op)};
    p.tag = sml_stream_oldest(w->stream) + (uint32_t)(int8_t)take8(in) % 16;
    p.kind = kinds[take8(in) % sizeof kinds];
    if (p.kind == SML_LATE && !w->cfg.quorum)
        p.kind = SML_DATA;
    if (odd & 1)
        p.tag = sml_stream_oldest(w->stream) - take8(in);
    if (p.kind == SML_DATA && p.tag == w->first_tag)
        p.kind = SML_OPEN;
    streamed_place(in, odd, w->cfg.slots, &p);
    if (odd & 8)
        p.e0 = take8(in);
    if (p.kind == SML_LATE && fill & 1)
        p.e1 = SML_FLAG_IN;
    sml_build_header(payload, &p);
    size_t bytes = SML_HEADER_BYTES + append_body(w, &p, fill, payload + SML_HEADER_BYTES);
    if (odd & 64)
        bytes = streamed_longer(in, fill, payload, bytes);
    if (p.checksum != XFER_CHECKSUM_NONE) {
        sml_build_trailer(payload + bytes, XFER_SWITCH, payload, bytes, NULL, 0);
        bytes += XFER_TRAILER_BYTES;
    }
    uint8_t *exact = take_damage(in, odd, payload, &bytes);
    receive(w, exact, bytes);
    free(exact);
}

static void take_raw(struct world *w, struct input *in)
{
    size_t bytes;
    uint8_t *raw = take_bytes(in, take8(in), &bytes);
    receive(w, raw, bytes);
    free(raw);
}

static void resume(struct world *w, struct input *in)
{
    uint32_t back = take8(in) % (w->cfg.slots + 3u);
    uint8_t job = take8(in);
    uint32_t first_tag = sml_stream_oldest(w->stream) - back;
    if (w->cfg.quorum && job & 1) { /* others are so far ahead that what is older is lost */
        first_tag += back + back;
        if (tag_before(w->gone, first_tag))
            w->gone = first_tag;
    }
    int rc = sml_stream_resume(w->stream, job, first_tag, NULL, w->now);
    REQUIRE(rc == 0 || rc == -ENODATA);
    REQUIRE(rc == 0 || back > (w->cfg.quorum ? w->cfg.slots : 0));
    if (rc < 0)
        return;
    note_missed(w);
    w->cfg.job = job;
    w->misled = w->misled || tag_before(first_tag, w->shared);
}

/* What it lacks lies within the tensor, which is the caller's again. */
static void leave(struct world *w, struct input *in)
{
    uint64_t from = 0, offset;
    size_t bytes;
    if (!w->cfg.may_leave) {
        take_packet(w, in);
        return;
    }
    while (w->in && sml_stream_lacks(w->stream, &from, &offset, &bytes))
        REQUIRE(offset + bytes <= w->bytes);
    const uint32_t end = sml_stream_oldest(w->stream) + (uint32_t)sml_stream_left(w->stream);
    if (!sml_stream_leave(w->stream))
        return;
    REQUIRE(sml_stream_status(w->stream) == XFER_DONE);
    free_tensors(w);
    w->first_tag = end;
}

typedef void step_fn(struct world *w, struct input *in);

static void step(struct world *w, struct input *in)
{
    static step_fn *const steps[8] = {begin,  pass_time, poll,        take_raw,
                                      resume, leave,     take_packet, take_packet};
    struct xfer_stats stats;
    uint16_t ranks[WORKERS];
    steps[take8(in) % 8](w, in);
    REQUIRE(sml_stream_missing(w->stream, ranks, WORKERS) <= WORKERS);
    REQUIRE(sml_stream_progress(w->stream) <= w->now);
    sml_stream_stats(w->stream, &stats);
    REQUIRE(stats.window >= 1 && stats.window <= w->cfg.slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    uint8_t shape = take8(&in);
    struct world w = {.now = 1000000 * US};
    w.cfg = (struct sml_stream_config){
        .rank = RANK,
        .workers = WORKERS,
        .format = XFER_FORMAT_TYPED,
        .slots = (uint16_t)(1 << shape % 4),
        .chunk_bytes = (uint16_t)(64 + 4 * (shape / 4 % 32)),
        .job = 3,
        .buffer_reduces = shape & 64,
        .checksum = shape & 128 ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE,
        .first_tag = take32(&in),
        .kernels = kernels_or_exit(),
    };
    if (w.cfg.chunk_bytes >= SML_LOOK_UP_CHUNK_MIN)
        w.cfg.look_up = (uint8_t)(1 + w.cfg.first_tag % 4 + (w.cfg.first_tag & 4 ? SML_WIDE_SUMS : 0));
    w.cfg.quorum = (w.cfg.first_tag >> 8 & 15) == 5;
    w.cfg.may_leave = w.cfg.look_up != 0 && (w.cfg.first_tag & 8);
    w.stream = stream_of(&w.cfg);
    w.first_tag = w.shared = w.gone = w.cfg.first_tag;
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++)
        step(&w, &in);
    check_done(&w);
    free_tensors(&w);
    free(w.stream);
    return 0;
}
