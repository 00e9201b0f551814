/* Plays a transcript against one stream: what is done to it, what it must send, what it must say. A line a
 * step; chunks are counted from the job's first. Elements are int32, sixteen a chunk (eleven in an opening
 * one); this rank contributes its place in the tensor, plus one, and every result is ten times that.
 *
 *   open RANK WORKERS SLOTS WINDOW [buffer|leave]   a new stream; buffer: of reduces; leave: it may
 *   allreduce COUNT | inplace COUNT | reduce COUNT ROOT   begins a collective
 *   at TIME                              the clock, in us
 *   > KIND CHUNK [want]                  the next packet sent, and whether it asks for the sum
 *   idle                                 nothing is to be sent now
 *   timer TIME | timer never             in us
 *   < result|ack|nack CHUNK = WORTH      a packet from the switch, and what it must be worth
 *   < wait CHUNK BITMAP = WORTH
 *   < reject CHUNK BOOT_ID = WORTH
 *   < mismatch CHUNK YOUR_RANK = WORTH
 *   > KIND 1-3, < KIND 1-3               the same of several chunks, one after the other
 *   status STATUS
 *   missing RANK ... | missing
 *   oldest CHUNK
 *   left CHUNKS COMPLETED                chunks that this rank is not done with; calls that are complete
 *   lacks CHUNK ...                      of the collective in progress
 *   hold ELEMENTS | hold none            of the newest collective only the first so many may leave
 *   arrived ELEMENTS | arrived all       so many of the newest, from the first on, have their sums
 *   leave | stay                         leaves the collective; or must not
 *   resume JOB CHUNK RESULT              RESULT: ok or gone
 *   job JOB                              the number that packets bear from here on, both ways
 *   sum                                  the result tensor is right, all of it
 */
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_chosen.h"
#include "placed.h"
#include "transfer/chunks.h"
#include "unit.h"

enum { SCRIPT_CHUNK_BYTES = 64, SCRIPT_COUNT_MAX = 4096, SCRIPT_CHUNKS_MAX = 512 };
static const uint32_t script_first_tag = 0xfffffffa; /* so that tags wrap early in every script */

struct script {
    struct sml_stream *stream;
    struct sml_stream_config cfg;
    uint64_t now;
    int32_t in[SCRIPT_COUNT_MAX], out[SCRIPT_COUNT_MAX];
    bool buffer_reduces, may_leave, in_place;
    struct xfer_call call;    /* of the last collective begun */
    uint32_t base, next_base; /* its first chunk, and the one after its last */
    bool opening[SCRIPT_CHUNKS_MAX];
    const char *line;
    unsigned line_number;
};

#define SCRIPT_CHECK(sc, condition)                                                                          \
    do {                                                                                                     \
        bool holds = (condition);                                                                            \
        if (!holds)                                                                                          \
            printf("\n      line %u: %s: not (%s)\n", (sc)->line_number, (sc)->line, #condition);            \
        CU_ASSERT(holds);                                                                                    \
    } while (0)

static inline void script_open(struct script *sc, unsigned rank, unsigned workers, unsigned slots,
                               unsigned window)
{
    sc->cfg = (struct sml_stream_config){
        .rank = (uint16_t)rank,
        .workers = (uint16_t)workers,
        .format = XFER_FORMAT_TYPED,
        .slots = (uint16_t)slots,
        .chunk_bytes = SCRIPT_CHUNK_BYTES,
        .job = 7,
        .first_tag = script_first_tag,
        .buffer_reduces = sc->buffer_reduces,
        .may_leave = sc->may_leave,
        .window_max = (uint16_t)window,
        .kernels = kernels_or_exit(),
    };
    free(sc->stream);
    sc->stream = stream_of(&sc->cfg);
    sc->base = sc->next_base = 0;
    memset(sc->opening, 0, sizeof(sc->opening));
    sc->call.seq = UINT32_MAX;
}

static inline void script_begin(struct script *sc, enum xfer_collective collective, unsigned count,
                                unsigned root, bool in_place)
{
    sc->in_place = in_place;
    for (unsigned i = 0; i < count; i++) {
        sc->in[i] = (int32_t)i + 1;
        sc->out[i] = -1;
    }
    sc->call = (struct xfer_call){sc->call.seq + 1, collective, AGG_I32, AGG_SUM, root, count, 0, 0, 0};
    sc->base = sc->next_base;
    SCRIPT_CHECK(sc, sc->base < SCRIPT_CHUNKS_MAX);
    sc->opening[sc->base % SCRIPT_CHUNKS_MAX] = true;
    sc->next_base += (uint32_t)xfer_chunk_count(SCRIPT_CHUNK_BYTES, 4, count * 4);
    void *out = in_place ? sc->in : sc->out;
    SCRIPT_CHECK(sc, sml_stream_begin(sc->stream, &sc->call, sc->in, out, sc->now) == 0);
}

static inline struct sml_packet script_header(const struct script *sc, uint8_t kind, unsigned chunk)
{
    struct sml_packet p = sum_packet(kind, script_first_tag + chunk, sc->cfg.slots);

    p.job = sc->cfg.job;
    return p;
}

static inline void script_put_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24), p[1] = (uint8_t)(v >> 16), p[2] = (uint8_t)(v >> 8), p[3] = (uint8_t)v;
}

/* The elements of a chunk of the last collective begun, times factor, as they travel; their length. */
static inline size_t script_elements(const struct script *sc, unsigned chunk, uint32_t factor, uint8_t *body)
{
    uint64_t offset;
    size_t bytes;

    xfer_chunk_span(SCRIPT_CHUNK_BYTES, 4, sc->call.count * 4, chunk - sc->base, &offset, &bytes);
    for (size_t i = 0; i < bytes / 4; i++)
        script_put_be32(body + 4 * i, ((uint32_t)(offset / 4 + i) + 1) * factor);
    return bytes;
}

static inline void script_expect_send(struct script *sc, const char *kind_name, unsigned chunk, bool want)
{
    static const char *const names[] = {
        [SML_DATA] = "data", [SML_OPEN] = "open", [SML_PROBE] = "probe", [SML_RESTORE] = "restore"};
    struct xfer_send send;
    uint8_t payload[SML_HEADER_BYTES + SCRIPT_CHUNK_BYTES], body[SCRIPT_CHUNK_BYTES];
    struct sml_packet p, expected;

    bool any = sml_stream_poll(sc->stream, sc->now, &send);
    SCRIPT_CHECK(sc, any);
    if (!any)
        return;
    SCRIPT_CHECK(sc, sml_parse(&p, payload, xfer_send_copy(&send, payload)) == SML_OK);
    if (p.kind >= sizeof(names) / sizeof(names[0]) || names[p.kind] == NULL ||
        strcmp(names[p.kind], kind_name) != 0 || p.tag != script_first_tag + chunk) {
        printf("\n      line %u: %s: sent kind %u of chunk %u\n", sc->line_number, sc->line, p.kind,
               p.tag - script_first_tag);
        CU_FAIL("another packet was sent");
        return;
    }
    expected = script_header(sc, p.kind, chunk);
    SCRIPT_CHECK(sc, p.job == expected.job && p.slot == expected.slot && p.ver == expected.ver);
    SCRIPT_CHECK(sc, p.e0 == expected.e0 && ((p.e1 & SML_FLAG_WANT) != 0) == want);

    if (p.kind == SML_PROBE) {
        SCRIPT_CHECK(sc, p.body_bytes == 0);
    } else if (chunk >= sc->base) { /* of an earlier collective only the header is known here */
        size_t bytes = script_elements(sc, chunk, p.kind == SML_RESTORE ? 10 : 1, body);
        size_t call_bytes = chunk == sc->base ? XFER_CALL_BYTES : 0;
        struct xfer_call call;
        SCRIPT_CHECK(sc, p.body_bytes == call_bytes + bytes && memcmp(p.body + call_bytes, body, bytes) == 0);
        SCRIPT_CHECK(sc, call_bytes == 0 || (xfer_parse_call(&call, p.body, p.body_bytes) &&
                                             xfer_call_equal(&call, &sc->call)));
    }
}

static inline const char *script_worth_name(enum xfer_receive worth)
{
    switch (worth) {
    case XFER_RX_RESULT:
        return "result";
    case XFER_RX_NEWS:
        return "news";
    case XFER_RX_DUPLICATE:
        return "duplicate";
    case XFER_RX_DAMAGED:
        return "damaged";
    case XFER_RX_DOUBT:
        return "doubt";
    case XFER_RX_BAD:
        return "bad";
    }
    return "nothing known";
}

static inline void script_receive(struct script *sc, const char *what, unsigned chunk, const char *argument,
                                  const char *worth)
{
    uint8_t payload[256] = {0}, *body = payload + SML_HEADER_BYTES;
    bool opening = sc->opening[chunk % SCRIPT_CHUNKS_MAX];
    struct sml_packet p = script_header(sc, opening ? SML_OPEN : SML_DATA, chunk);
    size_t bytes = 0;

    if (strcmp(what, "result") == 0) {
        if (opening) {
            xfer_build_call(body, &sc->call);
            bytes = XFER_CALL_BYTES;
        }
        bytes += script_elements(sc, chunk, 10, body + bytes);
    } else if (strcmp(what, "nack") == 0) {
        p.kind = SML_NACK;
    } else if (strcmp(what, "wait") == 0) {
        p.kind = SML_WAIT;
        body[0] = (uint8_t)strtoul(argument, NULL, 0);
        bytes = (sc->cfg.workers + 7u) / 8;
    } else if (strcmp(what, "reject") == 0) {
        p.kind = SML_REJECT;
        body[7] = (uint8_t)strtoul(argument, NULL, 0);
        bytes = 8;
    } else if (strcmp(what, "mismatch") == 0) {
        struct xfer_mismatch m = {
            .your_rank = (uint16_t)strtoul(argument, NULL, 0), .your_tag = p.tag, .peer_rank = 3};
        p.kind = SML_MISMATCH;
        xfer_build_mismatch(body, &m);
        bytes = XFER_MISMATCH_BYTES;
    } else {
        SCRIPT_CHECK(sc, strcmp(what, "ack") == 0);
    }
    sml_build_header(payload, &p);
    const char *got =
        script_worth_name(sml_stream_receive(sc->stream, payload, SML_HEADER_BYTES + bytes, sc->now));
    if (strcmp(got, worth) != 0)
        printf("\n      line %u: %s: was worth %s\n", sc->line_number, sc->line, got);
    CU_ASSERT_STRING_EQUAL(got, worth);
}

static inline void script_expect_status(struct script *sc, const char *name)
{
    enum xfer_status expected = strcmp(name, "running") == 0    ? XFER_RUNNING
                                : strcmp(name, "rejected") == 0 ? XFER_REJECTED
                                : strcmp(name, "mismatch") == 0 ? XFER_MISMATCH
                                                                : XFER_DONE;
    SCRIPT_CHECK(sc, sml_stream_status(sc->stream) == expected);
}

static inline void script_expect_lacks(struct script *sc, const unsigned chunks[], unsigned n)
{
    uint64_t from = 0, offset, right_offset;
    size_t bytes, right_bytes;
    unsigned i;

    for (i = 0; sml_stream_lacks(sc->stream, &from, &offset, &bytes); i++) {
        const unsigned c = i < n ? chunks[i] - sc->base : 0;

        xfer_chunk_span(SCRIPT_CHUNK_BYTES, 4, sc->call.count * 4, c, &right_offset, &right_bytes);
        SCRIPT_CHECK(sc, from == c + 1 && offset == right_offset && bytes == right_bytes);
    }
    SCRIPT_CHECK(sc, i == n);
}

/* Of "3" the 3, of "3-7" the 7. */
static inline unsigned script_last(const char *chunks)
{
    const char *dash = strchr(chunks, '-');

    return (unsigned)strtoul(dash == NULL ? chunks : dash + 1, NULL, 0);
}

static inline void script_step(struct script *sc)
{
    char line[128], *word[8] = {"", "", "", "", "", "", "", ""}, *save = NULL;
    unsigned words = 0, number[8] = {0};
    struct xfer_send send;

    snprintf(line, sizeof(line), "%s", sc->line);
    for (char *w = strtok_r(line, " ", &save); w != NULL && words < 8;
         w = strtok_r(NULL, " ", &save), words++) {
        word[words] = w;
        number[words] = (unsigned)strtoul(w, NULL, 0);
    }
    if (words == 0)
        return;
    if (strcmp(word[0], "open") == 0) {
        sc->buffer_reduces = strcmp(word[5], "buffer") == 0;
        sc->may_leave = strcmp(word[5], "leave") == 0;
        script_open(sc, number[1], number[2], number[3], number[4]);
    } else if (strcmp(word[0], "allreduce") == 0) {
        script_begin(sc, XFER_ALLREDUCE, number[1], 0, false);
    } else if (strcmp(word[0], "inplace") == 0) {
        script_begin(sc, XFER_ALLREDUCE, number[1], 0, true);
    } else if (strcmp(word[0], "reduce") == 0) {
        script_begin(sc, XFER_REDUCE, number[1], number[2], false);
    } else if (strcmp(word[0], "at") == 0) {
        sc->now = number[1] * UINT64_C(1000);
    } else if (strcmp(word[0], ">") == 0) {
        for (unsigned chunk = number[2]; chunk <= script_last(word[2]); chunk++)
            script_expect_send(sc, word[1], chunk, strcmp(word[3], "want") == 0);
    } else if (strcmp(word[0], "idle") == 0) {
        SCRIPT_CHECK(sc, !sml_stream_poll(sc->stream, sc->now, &send));
    } else if (strcmp(word[0], "timer") == 0) {
        uint64_t timer = sml_stream_timer(sc->stream);
        if (timer != (strcmp(word[1], "never") == 0 ? UINT64_MAX : number[1] * UINT64_C(1000)))
            printf("\n      line %u: %s: is %llu us\n", sc->line_number, sc->line,
                   (unsigned long long)timer / 1000);
        CU_ASSERT(timer == (strcmp(word[1], "never") == 0 ? UINT64_MAX : number[1] * UINT64_C(1000)));
    } else if (strcmp(word[0], "<") == 0) {
        for (unsigned chunk = number[2]; chunk <= script_last(word[2]); chunk++)
            script_receive(sc, word[1], chunk, word[3], word[words - 1]);
    } else if (strcmp(word[0], "status") == 0) {
        script_expect_status(sc, word[1]);
    } else if (strcmp(word[0], "missing") == 0) {
        uint16_t ranks[8];
        SCRIPT_CHECK(sc, sml_stream_missing(sc->stream, ranks, 8) == words - 1);
        for (unsigned i = 1; i < words; i++)
            SCRIPT_CHECK(sc, ranks[i - 1] == number[i]);
    } else if (strcmp(word[0], "oldest") == 0) {
        SCRIPT_CHECK(sc, sml_stream_oldest(sc->stream) == script_first_tag + number[1]);
    } else if (strcmp(word[0], "left") == 0) {
        SCRIPT_CHECK(sc, sml_stream_left(sc->stream) == number[1]);
        SCRIPT_CHECK(sc, sml_stream_completed(sc->stream) == number[2]);
    } else if (strcmp(word[0], "lacks") == 0) {
        script_expect_lacks(sc, number + 1, words - 1);
    } else if (strcmp(word[0], "hold") == 0) {
        sml_stream_hold(sc->stream, sc->call.seq, strcmp(word[1], "none") == 0 ? UINT64_MAX : number[1]);
    } else if (strcmp(word[0], "arrived") == 0) {
        uint64_t from;
        SCRIPT_CHECK(sc, sml_stream_arrived(sc->stream, sc->call.seq, &from) ==
                             (strcmp(word[1], "all") == 0 ? UINT64_MAX : number[1]));
    } else if (strcmp(word[0], "leave") == 0 || strcmp(word[0], "stay") == 0) {
        SCRIPT_CHECK(sc, sml_stream_leave(sc->stream) == (word[0][0] == 'l'));
    } else if (strcmp(word[0], "resume") == 0) {
        int rc =
            sml_stream_resume(sc->stream, (uint8_t)number[1], script_first_tag + number[2], NULL, sc->now);
        if (rc == 0)
            sc->cfg.job = (uint8_t)number[1];
        SCRIPT_CHECK(sc, rc == (strcmp(word[3], "ok") == 0 ? 0 : -ENODATA));
    } else if (strcmp(word[0], "job") == 0) {
        sc->cfg.job = (uint8_t)number[1];
    } else if (strcmp(word[0], "sum") == 0) {
        const int32_t *out = sc->in_place ? sc->in : sc->out;
        for (unsigned i = 0; i < sc->call.count; i++)
            SCRIPT_CHECK(sc, out[i] == ((int32_t)i + 1) * 10);
    } else {
        SCRIPT_CHECK(sc, !"a known step");
    }
}

static inline void script_play(const char *const lines[])
{
    struct script sc = {0};

    for (; *lines != NULL; lines++) {
        sc.line = *lines;
        sc.line_number++;
        script_step(&sc);
    }
    free(sc.stream);
}
#define SCRIPT(...) script_play((const char *const[]){__VA_ARGS__, NULL})
