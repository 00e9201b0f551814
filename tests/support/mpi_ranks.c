#include "mpi_ranks.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t handshake[OB1_HANDSHAKE_BYTES] = "\1\0\"\302\0\0\0\0OPAL-TCP-BTL";

/* A short message, of a tag of the program's own. */
static const uint8_t match[] = {0x41, OB1_SEND, 1, 0, 18, 0, 0, 0, 0x41, 0x2c, 0,   0,   1,
                                0,    0,        0, 7, 0,  0, 0, 1, 0,    'a',  'b', 'c', 'd'};

void mpi_append(struct mpi_bytes *b, const uint8_t *bytes, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n);
        b->at = realloc(b->at, b->room);
        if (b->at == NULL)
            abort();
    }
    if (n > 0)
        memcpy(b->at + b->n, bytes, n);
    b->n += n;
}

void mpi_drop(struct mpi_bytes *b, size_t n)
{
    b->n -= n;
    if (n > 0)
        memmove(b->at, b->at + n, b->n);
}

/* The handshake that is awaited; true: it is there, or was before. */
static bool greet(bool *greeted, struct mpi_bytes *in)
{
    if (!*greeted && in->n >= OB1_HANDSHAKE_BYTES && ob1_is_handshake(in->at)) {
        mpi_drop(in, OB1_HANDSHAKE_BYTES);
        *greeted = true;
    }
    return *greeted;
}

/* A whole frame at the front. */
static bool next_frame(const struct mpi_bytes *in, struct ob1_frame *f)
{
    return in->n >= OB1_FRAME_BYTES && ob1_parse_frame(f, in->at) && ob1_frame_length(f) <= in->n;
}

static void put_le(uint8_t *at, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t request_of(const struct mpi_sender *s)
{
    return UINT64_C(0x560000000000) + (uint64_t)s->rank;
}

static void announce(struct mpi_sender *s)
{
    uint8_t rndv[OB1_RNDV_BYTES] = {OB1_RNDV, OB1_SEND, 1, 0, 32, 0, 0, 0, OB1_RNDV, 0x2c};

    put_le(rndv + 12, 4, (uint64_t)s->rank);
    put_le(rndv + 16, 4, (uint64_t)OB1_TAG_REDUCE);
    put_le(rndv + 20, 2, s->done + 1);
    put_le(rndv + 24, 8, s->length);
    put_le(rndv + 32, 8, request_of(s));
    mpi_append(&s->out, rndv, sizeof(rndv));
    s->announced = true;
}

static void chatter(struct mpi_sender *s)
{
    if (s->chatters)
        mpi_append(&s->out, match, sizeof(match));
}

static void send_message(struct mpi_sender *s, const struct ob1_put *put)
{
    uint8_t data[OB1_DATA_BYTES], fin[OB1_FIN_BYTES];

    chatter(s);
    ob1_build_data(data, &(struct ob1_data){.address = put->address, .length = put->length});
    ob1_build_fin(fin, &(struct ob1_fin){.length = put->length, .fragment = put->fragment});
    mpi_append(&s->out, data, sizeof(data));
    mpi_append(&s->out, s->tensor, s->length);
    mpi_append(&s->out, fin, sizeof(fin));
    chatter(s);
    s->announced = false;
    s->done++;
}

bool mpi_sender_turn(struct mpi_sender *s)
{
    struct ob1_frame f;

    if (!s->spoke)
        mpi_append(&s->out, handshake, sizeof(handshake));
    s->spoke = true;
    if (!greet(&s->greeted, &s->in))
        return true;
    while (next_frame(&s->in, &f)) {
        struct ob1_put put;

        if (!ob1_is(&f, OB1_PUT) && !ob1_is(&f, OB1_ACK))
            return false;
        if (ob1_is(&f, OB1_PUT)) {
            ob1_parse_put(&put, s->in.at);
            if (!s->announced || put.request != request_of(s) || put.length != s->length)
                return false;
            send_message(s, &put);
        }
        mpi_drop(&s->in, ob1_frame_length(&f));
    }
    if (!s->announced && s->done < s->calls)
        announce(s);
    return true;
}

static uint64_t place(const struct mpi_root *r)
{
    return r->from == r->senders ? 0x10000 : 0x20000; /* of sum, of buffer */
}

static uint8_t *memory(struct mpi_root *r)
{
    return r->from == r->senders ? r->sum : r->buffer;
}

static void ask(struct mpi_root *r)
{
    uint8_t bytes[OB1_PUT_BYTES];
    const struct ob1_put put = {.request = r->of[r->from - 1].request[0],
                                .fragment = UINT64_C(0x7f0000000000) + r->from,
                                .receive = 77,
                                .address = place(r),
                                .length = r->length};

    ob1_build_put(bytes, &put);
    if (r->acknowledges) {
        bytes[0] = bytes[8] = OB1_ACK;
        bytes[4] = 40;
    }
    mpi_append(&r->of[r->from - 1].out, bytes, r->acknowledges ? OB1_ACK_BYTES : OB1_PUT_BYTES);
    r->asked = true;
}

/* The message of whom it waits for is there. */
static void received(struct mpi_root *r)
{
    const unsigned at = r->from - 1;

    if (r->from < r->senders)
        r->fold(r->sum, r->buffer, r->length);
    r->of[at].announced--;
    memmove(r->of[at].request, r->of[at].request + 1, r->of[at].announced * sizeof(r->of[at].request[0]));
    r->asked = false;
    r->from--;
    if (r->from == 0) {
        r->fold(r->sum, r->own, r->length);
        r->done++;
        r->from = r->senders;
    }
}

static bool take_frame(struct mpi_root *r, unsigned at, const struct ob1_frame *f)
{
    const uint8_t *bytes = r->of[at].in.at;
    const bool awaited = r->asked && r->from == at + 1;
    struct ob1_rndv rndv;
    struct ob1_data data;
    struct ob1_fin fin;

    if (ob1_is(f, OB1_RNDV)) {
        ob1_parse_rndv(&rndv, bytes);
        if (rndv.length != r->length || rndv.source != (int32_t)at + 1 ||
            r->of[at].announced == MPI_RANKS_CALLS)
            return false;
        r->of[at].request[r->of[at].announced++] = rndv.request;
        return true;
    }
    if (ob1_is(f, OB1_DATA)) {
        if (!awaited || !ob1_parse_data(&data, bytes) || data.address != place(r) || data.length != r->length)
            return false;
        memcpy(memory(r), bytes + OB1_DATA_BYTES, r->length);
        return true;
    }
    if (ob1_is(f, OB1_FIN)) {
        ob1_parse_fin(&fin, bytes);
        if (!awaited || fin.fragment != UINT64_C(0x7f0000000000) + r->from || fin.length != r->length)
            return false;
        received(r);
        return true;
    }
    return f->tag == match[0] && memcmp(bytes, match, sizeof(match)) == 0;
}

/* Posts its next receive, of whom it waits for. */
static void post(struct mpi_root *r)
{
    if (r->from == 0)
        r->from = r->senders;
    if (r->done == r->calls || r->asked || r->of[r->from - 1].announced == 0)
        return;
    if (r->from == r->senders)
        memset(r->buffer, 0xa5, r->length); /* as malloc may give it */
    ask(r);
}

bool mpi_root_turn(struct mpi_root *r)
{
    struct ob1_frame f;

    for (unsigned at = 0; at < r->senders; at++) {
        const bool was = r->of[at].greeted;

        if (!greet(&r->of[at].greeted, &r->of[at].in))
            continue;
        if (!was)
            mpi_append(&r->of[at].out, handshake, sizeof(handshake));
        while (next_frame(&r->of[at].in, &f)) {
            if (!take_frame(r, at, &f))
                return false;
            mpi_drop(&r->of[at].in, ob1_frame_length(&f));
            post(r);
        }
    }
    post(r);
    return true;
}
