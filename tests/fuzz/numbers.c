/* A stream with SwitchML's numbers: any sequence of collectives, packets from the switch, restarts and
 * passing of time, in formats with exponents. The oracle notes the exponents of the packets that the stream
 * says it took as results, and scales by those with the scalar loops: what leaves, and what must come out. An
 * input is the configuration, then a byte for each step and its arguments. */
#include <errno.h>
#include <math.h>

#include "fuzz.h"
#include "kernels_chosen.h"
#include "streamed.h"

#define US UINT64_C(1000)

enum { STEPS_MAX = 300, RANK = 1, WORKERS = 4, COUNT_MAX = 256, PACKETS_MAX = 64, PAYLOAD_MAX = 1200 };

struct world {
    struct sml_stream_config cfg;
    struct sml_stream *stream;
    uint64_t now;

    /* The collective at hand, or the last one. */
    bool begun;
    struct xfer_call call;
    struct xfer_blocks blocks;
    uint32_t first_tag;
    int8_t agreed[PACKETS_MAX]; /* by packet: the exponent that its result had */
    bool has[PACKETS_MAX];
    float in[COUNT_MAX], out[COUNT_MAX], expected[COUNT_MAX]; /* room for elements of any type */
};

static bool is_scaled(const struct world *w)
{
    return w->call.type != AGG_I32;
}

static enum num_type type_of(const struct world *w)
{
    return w->call.type == AGG_F32 ? NUM_F32 : NUM_F16;
}

static enum num_wire wire_of(const struct world *w)
{
    return w->cfg.format == XFER_FORMAT_INT32 ? NUM_INT32 : NUM_FP16;
}

static const struct num_loops *plainly(void)
{
    return num_loops_for(&agg_kernels_scalar);
}

/* Packet i's elements in the tensor; returns how many. */
static size_t span(const struct world *w, uint64_t i, size_t *at)
{
    uint64_t offset;
    size_t bytes;

    xfer_blocks_span(&w->blocks, w->call.count, i, &offset, &bytes);
    *at = (size_t)offset;
    return bytes / w->blocks.element;
}

/* By the exponent that came with the result of the packet a phase before. */
static struct num_scale scale_at(const struct world *w, uint64_t i)
{
    const uint64_t from = i - w->blocks.lead;

    REQUIRE(i >= w->blocks.lead && from < PACKETS_MAX && w->has[from]);
    struct num_scale s = num_scale(wire_of(w), WORKERS, w->agreed[from]);
    if (w->call.op == AGG_AVG)
        s.back /= WORKERS;
    return s;
}

static void expect_numbers(const struct world *w, uint64_t i, const struct sml_packet *p)
{
    uint8_t numbers[PAYLOAD_MAX];
    size_t at, n = span(w, i, &at), bytes = n * w->blocks.on_wire;

    if (is_scaled(w) && n > 0)
        plainly()->out[wire_of(w)][type_of(w)](numbers, (const char *)w->in + at, n, scale_at(w, i).out);
    else
        agg_kernels_scalar.convert[AGG_I32](numbers, (const char *)w->in + at, bytes);
    REQUIRE(p->body_bytes == (w->cfg.plain ? w->cfg.chunk_bytes : bytes));
    REQUIRE(memcmp(p->body, numbers, bytes) == 0);
    for (size_t rest = bytes; rest < p->body_bytes; rest++)
        REQUIRE(p->body[rest] == 0);
}

/* Of block i, which packet i tells. */
static int8_t exponent_of(const struct world *w, uint64_t i)
{
    const uint64_t first = i * w->blocks.block, left = w->call.count - first;

    if (!is_scaled(w) || first >= w->call.count)
        return NUM_NO_BLOCK;
    return plainly()->exponent[type_of(w)]((const char *)w->in + first * w->blocks.element,
                                           left < w->blocks.block ? left : w->blocks.block);
}

static void check_sent(const struct world *w, const struct xfer_send *send)
{
    uint8_t payload[PAYLOAD_MAX];
    struct sml_packet p;
    REQUIRE(send->head_bytes == SML_HEADER_BYTES && send->body_bytes <= w->cfg.chunk_bytes);
    REQUIRE(sml_parse(&p, payload, xfer_send_copy(send, payload)) == SML_OK);
    REQUIRE(p.kind == SML_DATA || (!w->cfg.plain && (p.kind == SML_PROBE || p.kind == SML_RESTORE)));
    REQUIRE(!w->cfg.plain || p.size_code == sml_size_code(w->cfg.chunk_bytes));
    REQUIRE(p.job == w->cfg.job && p.slot == sml_tag_slot(p.tag, w->cfg.slots) &&
            p.ver == sml_tag_ver(p.tag, w->cfg.slots) && p.checksum == XFER_CHECKSUM_NONE);
    const uint64_t i = p.tag - w->first_tag;
    if (p.kind != SML_DATA || !w->begun || i >= xfer_blocks_packets(&w->blocks))
        return;
    REQUIRE((int8_t)p.e0 == exponent_of(w, i));
    expect_numbers(w, i, &p);
}

static void poll(struct world *w, struct input *in)
{
    struct xfer_send send;
    (void)in;
    for (unsigned n = 0; streamed_sends(w->stream, w->cfg.slots, w->now, &n, &send);)
        check_sent(w, &send);
}

/* To the bit, but for what a NaN looks like. */
static void check_done(const struct world *w)
{
    const uint8_t *out = (const uint8_t *)w->out, *expected = (const uint8_t *)w->expected;
    const size_t element = w->blocks.element;

    if (!w->begun || sml_stream_status(w->stream) != XFER_DONE)
        return;
    for (size_t i = 0; i < w->call.count; i++) {
        const uint8_t *a = out + i * element, *b = expected + i * element;
        uint16_t half[2];
        memcpy(&half[0], a, sizeof half[0]);
        memcpy(&half[1], b, sizeof half[1]);
        REQUIRE(memcmp(a, b, element) == 0 ||
                (is_scaled(w) && (element == 4 ? isnan(w->out[i]) && isnan(w->expected[i])
                                               : (half[0] & half[1] & 0x7c00) == 0x7c00)));
    }
}

static void begin(struct world *w, struct input *in)
{
    const uint8_t what = take8(in), fill = take8(in), shift = take8(in);
    struct xfer_call call = {.collective = XFER_ALLREDUCE,
                             .type = what % 3 == 0   ? AGG_F16
                                     : what % 3 == 1 ? AGG_F32
                                                     : AGG_I32,
                             .op = what & 16 ? AGG_AVG : AGG_SUM,
                             .count = take8(in)};

    if (w->begun && sml_stream_left(w->stream) > 0) {
        REQUIRE(sml_stream_begin(w->stream, &call, w->in, w->out, w->now) == -EBUSY);
        return;
    }
    if (sml_stream_status(w->stream) == XFER_MISMATCH)
        return;
    check_done(w);
    if (!xfer_blocks_carry(w->cfg.format, call.type, call.op)) {
        REQUIRE(sml_stream_begin(w->stream, &call, w->in, w->out, w->now) == -EINVAL);
        return;
    }
    w->call = call;
    w->blocks = xfer_blocks_of(w->cfg.format, w->cfg.chunk_bytes, w->cfg.slots, &call);
    w->first_tag = sml_stream_oldest(w->stream);
    w->begun = true;
    memset(w->has, 0, sizeof w->has);
    REQUIRE(xfer_blocks_packets(&w->blocks) <= PACKETS_MAX);
    for (size_t i = 0; i < sizeof w->in; i++) /* any bits, and runs that are alike */
        ((uint8_t *)w->in)[i] = (uint8_t)(fill * (1 + (i >> shift % 8)));
    REQUIRE(sml_stream_begin(w->stream, &call, w->in, w->out, w->now) == 0);
}

static void receive(struct world *w, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;
    size_t at, n;

    if (sml_stream_receive(w->stream, payload, bytes, w->now) != XFER_RX_RESULT)
        return;
    REQUIRE(sml_parse(&p, payload, bytes) == SML_OK && p.kind == SML_DATA);
    const uint64_t i = p.tag - w->first_tag;
    REQUIRE(w->begun && i < xfer_blocks_packets(&w->blocks) && !w->has[i]);
    w->agreed[i] = (int8_t)p.e0;
    w->has[i] = true;
    n = span(w, i, &at);
    REQUIRE(p.body_bytes == (w->cfg.plain ? w->cfg.chunk_bytes : n * w->blocks.on_wire));
    if (is_scaled(w) && n > 0)
        plainly()->back[wire_of(w)][type_of(w)]((char *)w->expected + at, p.body, n, scale_at(w, i).back);
    else
        agg_kernels_scalar.convert[AGG_I32]((char *)w->expected + at, p.body, n * w->blocks.on_wire);
    check_done(w);
}

static size_t append_body(const struct world *w, const struct sml_packet *p, uint8_t fill, uint8_t *body)
{
    const uint64_t i = p->tag - w->first_tag;
    size_t at, n = 0;

    switch (p->kind) {
    case SML_DATA:
        if (w->begun && i < xfer_blocks_packets(&w->blocks))
            n = span(w, i, &at) * w->blocks.on_wire;
        n = w->cfg.plain ? w->cfg.chunk_bytes : n;
        for (size_t b = 0; b < n; b++)
            body[b] = (uint8_t)(fill + 7 * b);
        return n;
    default:
        return streamed_word(p, RANK, fill, body);
    }
}

static void take_raw(struct world *w, struct input *in)
{
    size_t bytes;
    uint8_t *raw = take_bytes(in, take8(in), &bytes);

    receive(w, raw, bytes);
    free(raw);
}

/* Mostly what a switch would send now, with any exponent; any field may be off. */
static void take_packet(struct world *w, struct input *in)
{
    static const uint8_t kinds[] = {SML_DATA, SML_DATA, SML_DATA,   SML_NACK,
                                    SML_WAIT, SML_DATA, SML_REJECT, SML_MISMATCH};
    uint8_t payload[PAYLOAD_MAX + 64], odd = take8(in), fill = take8(in);
    struct sml_packet p = {.size_code = w->cfg.plain ? sml_size_code(w->cfg.chunk_bytes) : SML_SIZE_AGREED,
                           .job = w->cfg.job};
    p.e0 = p.e1 = take8(in);
    p.tag = sml_stream_oldest(w->stream) + (uint32_t)(int8_t)take8(in) % 16;
    p.kind = kinds[take8(in) % sizeof kinds];
    if (odd & 1)
        p.tag = sml_stream_oldest(w->stream) - take8(in);
    streamed_place(in, odd, w->cfg.slots, &p);
    sml_build_header(payload, &p);
    size_t bytes = SML_HEADER_BYTES + append_body(w, &p, fill, payload + SML_HEADER_BYTES);
    if (odd & 8)
        bytes = streamed_longer(in, fill, payload, bytes);
    uint8_t *exact = take_damage(in, odd, payload, &bytes);
    receive(w, exact, bytes);
    free(exact);
}

static void resume(struct world *w, struct input *in)
{
    const uint32_t back = take8(in) % (w->cfg.slots + 3u);
    const uint8_t job = take8(in);
    int rc = sml_stream_resume(w->stream, job, sml_stream_oldest(w->stream) - back, NULL, w->now);

    REQUIRE(rc == 0 || rc == -ENODATA);
    REQUIRE(rc == 0 || back > 0 || w->cfg.plain);
    if (rc == 0)
        w->cfg.job = job;
}

static void pass_time(struct world *w, struct input *in)
{
    w->now += take16(in) * US;
    poll(w, in);
}

typedef void step_fn(struct world *w, struct input *in);

static void step(struct world *w, struct input *in)
{
    static step_fn *const steps[8] = {begin,  pass_time,   poll,        take_raw,
                                      resume, take_packet, take_packet, take_packet};
    steps[take8(in) % 8](w, in);
    REQUIRE(sml_stream_progress(w->stream) <= w->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    const uint8_t shape = take8(&in);
    struct world *w = calloc(1, sizeof *w);

    w->now = 1000000 * US;
    w->cfg = (struct sml_stream_config){
        .rank = RANK,
        .workers = WORKERS,
        .format = shape & 64 ? XFER_FORMAT_FP16 : XFER_FORMAT_INT32,
        .plain = shape & 128 && !(shape & 64),
        .slots = (uint16_t)(1 << shape % 4),
        .chunk_bytes = (uint16_t)(64 + 4 * (shape / 4 % 16)),
        .job = 3,
        .first_tag = take32(&in),
        .kernels = kernels_or_exit(),
    };
    if (w->cfg.plain)
        w->cfg.chunk_bytes = (uint16_t)(128 << shape / 4 % 4);
    w->stream = stream_of(&w->cfg);
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++)
        step(w, &in);
    check_done(w);
    free(w->stream);
    free(w);
    return 0;
}
