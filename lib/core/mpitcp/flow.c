/* Frames of one connection: what is passed, and what is not. */
#include "mpitcp/flow_state.h"

#include <string.h>

/* There is room. */
static void append(struct mtp_out *out, const uint8_t *bytes, size_t n)
{
    if (out->end + n > MTP_OUT_BYTES) {
        memmove(out->at, out->at + out->begin, out->end - out->begin);
        out->end -= out->begin;
        out->begin = 0;
    }
    memcpy(out->at + out->end, bytes, n);
    out->end += n;
}

void mtp_flow_init(struct mtp_flow *f, struct mtp_group *g, unsigned sender)
{
    memset(f, 0, offsetof(struct mtp_flow, way));
    f->group = g;
    f->sender = sender;
    for (unsigned side = 0; side < 2; side++) {
        f->way[side].state = MTP_AT_HANDSHAKE;
        f->way[side].left = 0;
        f->way[side].out.begin = f->way[side].out.end = 0;
    }
    memset(&f->attached, 0, sizeof(*f) - offsetof(struct mtp_flow, attached));
}

const uint8_t *mtp_pending(const struct mtp_flow *f, enum mtp_side from, size_t *n)
{
    const struct mtp_out *out = &f->way[from].out;

    *n = out->end - out->begin;
    return out->at + out->begin;
}

void mtp_sent(struct mtp_flow *f, enum mtp_side from, size_t n)
{
    struct mtp_out *out = &f->way[from].out;

    out->begin += n;
    if (out->begin == out->end)
        out->begin = out->end = 0;
}

/* Whether the flow writes a frame of its own towards the root just now, which no other may get into. */
static bool is_writing(const struct mtp_flow *f)
{
    return f->begun && !f->finished;
}

static size_t pass(struct mtp_way *way, const uint8_t *bytes, size_t n)
{
    const size_t room = mtp_room(&way->out), most = n < room ? n : room;

    if (most > 0)
        append(&way->out, bytes, most);
    return most;
}

/* The frame is passed, as it comes. */
static ptrdiff_t pass_frame(struct mtp_way *way, uint64_t length)
{
    way->state = MTP_IN_FRAME;
    way->left = length;
    return 0;
}

/* What follows returns how many bytes it takes of those that are there, n of them, which may be none where
 * only the way's state has changed; or that it waits for more of them, or for room. */
enum { WAITS = -1 };

static ptrdiff_t some_of(size_t taken)
{
    return taken > 0 ? (ptrdiff_t)taken : WAITS;
}

static ptrdiff_t take_handshake(struct mtp_flow *f, enum mtp_side from, const uint8_t *bytes, size_t n)
{
    struct mtp_way *way = &f->way[from];

    if (n < OB1_HANDSHAKE_BYTES)
        return WAITS;
    if (!ob1_is_handshake(bytes)) {
        mtp_unexpected(f, MTP_NO_OPEN_MPI); /* a sender may be in a sum before its root speaks */
        way->state = MTP_RELAY;
        return 0;
    }
    f->job = ob1_job_of(bytes);
    f->dead = mtp_is_broken(f);
    way->state = MTP_AT_FRAME;
    return pass(way, bytes, OB1_HANDSHAKE_BYTES);
}

/* A sender's bytes of a sum begin. */
static ptrdiff_t begin_sum(struct mtp_flow *f, const struct ob1_data *d)
{
    if (!f->told || f->taken > 0 || d->length != f->group->length) {
        mtp_break(f, MTP_BROKEN);
        return 0;
    }
    f->way[MTP_UP].state = MTP_IN_SUM;
    return OB1_DATA_BYTES;
}

static ptrdiff_t end_sum(struct mtp_flow *f, const struct ob1_fin *fin)
{
    if (!f->told || f->taken != f->group->length || fin->length != f->group->length) {
        mtp_break(f, MTP_BROKEN);
        return 0;
    }
    f->ended = true;
    mtp_look_for_end(f->group);
    return OB1_FIN_BYTES;
}

static ptrdiff_t announce(struct mtp_flow *f, const struct ob1_frame *frame, const uint8_t *bytes)
{
    struct ob1_rndv r;

    ob1_parse_rndv(&r, bytes);
    if (r.tag == f->group->cfg.tag && r.length % f->group->element == 0 && r.length <= UINT32_MAX &&
        r.length > 0) {
        if (f->announcements == MTP_ANNOUNCED_MAX)
            return WAITS;
        mtp_announced(f, &r);
    }
    return pass_frame(&f->way[MTP_UP], ob1_frame_length(frame));
}

/* The header of a frame, whole where it is looked into. */
static ptrdiff_t take_up(struct mtp_flow *f, const struct ob1_frame *frame, const uint8_t *bytes, size_t n)
{
    struct ob1_data d;
    struct ob1_fin fin;

    if ((ob1_is(frame, OB1_DATA) && n < OB1_DATA_BYTES) || (ob1_is(frame, OB1_FIN) && n < OB1_FIN_BYTES) ||
        (ob1_is(frame, OB1_RNDV) && n < OB1_RNDV_BYTES))
        return WAITS;
    if (ob1_is(frame, OB1_DATA) && ob1_parse_data(&d, bytes) && d.address == mtp_place(f))
        return begin_sum(f, &d);
    if (ob1_is(frame, OB1_FIN)) {
        ob1_parse_fin(&fin, bytes);
        if (fin.fragment == mtp_place(f))
            return end_sum(f, &fin);
    }
    if (ob1_is(frame, OB1_RNDV))
        return announce(f, frame, bytes);
    return pass_frame(&f->way[MTP_UP], ob1_frame_length(frame));
}

static ptrdiff_t take_down(struct mtp_flow *f, const struct ob1_frame *frame, const uint8_t *bytes, size_t n,
                           uint64_t now)
{
    struct ob1_put put;

    if (ob1_is(frame, OB1_ACK) && f->announcements > 0) {
        if (n < OB1_ACK_BYTES)
            return WAITS;
        if (ob1_acknowledged(bytes) == f->announced[0].request) {
            mtp_unexpected(f, MTP_OTHER_ANSWER);
            return 0;
        }
    }
    if (ob1_is(frame, OB1_PUT) && f->announcements > 0) {
        if (n < OB1_PUT_BYTES)
            return WAITS;
        ob1_parse_put(&put, bytes);
        if (put.request == f->announced[0].request) {
            if (f->answered)
                return WAITS; /* the next message's: this one comes to its end first */
            mtp_answered(f, bytes, now);
            return OB1_PUT_BYTES;
        }
    }
    return pass_frame(&f->way[MTP_DOWN], ob1_frame_length(frame));
}

static ptrdiff_t take_frame(struct mtp_flow *f, enum mtp_side from, const uint8_t *bytes, size_t n,
                            uint64_t now)
{
    struct mtp_way *way = &f->way[from];
    struct ob1_frame frame;

    if (f->relay) {
        if (from == MTP_DOWN && f->answered) {
            if (mtp_room(&way->out) < OB1_PUT_BYTES)
                return WAITS;
            append(&way->out, f->answer_bytes, OB1_PUT_BYTES);
            f->answered = false;
        }
        way->state = MTP_RELAY;
        return 0;
    }
    if (n < OB1_FRAME_BYTES)
        return WAITS;
    if (!ob1_parse_frame(&frame, bytes)) {
        mtp_unexpected(f, MTP_NO_OPEN_MPI);
        return 0;
    }
    return from == MTP_UP ? take_up(f, &frame, bytes, n) : take_down(f, &frame, bytes, n, now);
}

static ptrdiff_t take_some(struct mtp_flow *f, enum mtp_side from, const uint8_t *bytes, size_t n,
                           uint64_t now)
{
    struct mtp_way *way = &f->way[from];
    const bool blocked = from == MTP_UP && is_writing(f);
    size_t taken;

    switch (way->state) {
    case MTP_AT_HANDSHAKE:
        return take_handshake(f, from, bytes, n);
    case MTP_AT_FRAME:
        return take_frame(f, from, bytes, n, now);
    case MTP_IN_FRAME:
        taken = blocked ? 0 : pass(way, bytes, n < way->left ? n : way->left);
        way->left -= taken;
        if (way->left == 0)
            way->state = MTP_AT_FRAME;
        return some_of(taken);
    case MTP_IN_SUM:
        taken = mtp_may_add(f) < n ? mtp_may_add(f) : n;
        taken -= taken % f->group->element;
        mtp_add(f, bytes, taken);
        if (f->taken == f->group->length)
            way->state = MTP_AT_FRAME;
        return some_of(taken);
    case MTP_RELAY:
        return some_of(pass(way, bytes, n));
    }
    return WAITS;
}

size_t mtp_take(struct mtp_flow *f, enum mtp_side from, const uint8_t *bytes, size_t n, uint64_t now)
{
    size_t taken = 0;
    ptrdiff_t some;

    f->dead |= mtp_is_broken(f);
    while (!f->dead && (some = take_some(f, from, bytes + taken, n - taken, now)) != WAITS)
        taken += (size_t)some;
    return taken;
}

/* The sender is told to send, once no frame from the root is in its midst. */
static bool tell(struct mtp_flow *f)
{
    struct mtp_way *down = &f->way[MTP_DOWN];
    const struct ob1_put put = {.request = f->announced[0].request,
                                .fragment = mtp_place(f),
                                .receive = mtp_place(f),
                                .address = mtp_place(f),
                                .length = f->group->length};
    uint8_t bytes[OB1_PUT_BYTES];

    if (f->told || down->state != MTP_AT_FRAME || mtp_room(&down->out) < sizeof(bytes))
        return false;
    ob1_build_put(bytes, &put);
    append(&down->out, bytes, sizeof(bytes));
    f->told = true;
    return true;
}

/* How much of what this flow sends is there by now. */
static uint64_t there(const struct mtp_flow *f)
{
    const struct mtp_group *g = f->group;

    return f->role == MTP_CARRIES ? g->order[g->cfg.senders - 1]->taken : g->length;
}

/* A frame of the flow's own begins when its sender is in the midst of its bytes, or behind them: until then
 * the sender may say something else before. */
static bool begin_writing(struct mtp_flow *f)
{
    struct mtp_way *up = &f->way[MTP_UP];
    const struct ob1_data d = {.address = f->answer.address, .length = f->group->length};
    uint8_t bytes[OB1_DATA_BYTES];

    if (f->begun || mtp_room(&up->out) < OB1_DATA_BYTES || up->state == MTP_IN_FRAME ||
        (f->taken == 0 && up->state != MTP_IN_SUM))
        return false;
    f->begun = true;
    f->sent = 0;
    if (f->role == MTP_END_ALONE) {
        f->sent = f->group->length;
        return true;
    }
    ob1_build_data(bytes, &d);
    append(&up->out, bytes, sizeof(bytes));
    return true;
}

static bool write_some(struct mtp_flow *f)
{
    struct mtp_group *g = f->group;
    struct mtp_out *out = &f->way[MTP_UP].out;
    const bool carries = f->role == MTP_CARRIES;
    const uint64_t at = carries ? f->sent % MTP_WINDOW_BYTES : f->sent % sizeof(g->neutral);
    uint64_t n = there(f) - f->sent;
    const uint64_t whole = (carries ? MTP_WINDOW_BYTES : sizeof(g->neutral)) - at;

    n = n < whole ? n : whole;
    n = n < mtp_room(out) ? n : mtp_room(out);
    append(out, (carries ? g->window : g->neutral) + at, n);
    f->sent += n;
    return n > 0;
}

static bool finish_writing(struct mtp_flow *f)
{
    struct mtp_out *out = &f->way[MTP_UP].out;
    const struct ob1_fin fin = {.length = f->group->length, .fragment = f->answer.fragment};
    uint8_t bytes[OB1_FIN_BYTES];

    if (f->sent < f->group->length || mtp_room(out) < sizeof(bytes))
        return false;
    ob1_build_fin(bytes, &fin);
    append(out, bytes, sizeof(bytes));
    f->finished = true;
    mtp_look_for_end(f->group);
    return true;
}

bool mtp_give(struct mtp_flow *f)
{
    bool moved;

    if (f->dead || !f->attached || !f->group->summing)
        return false;
    moved = tell(f);
    if (f->role == MTP_NO_ROLE || f->finished)
        return moved;
    moved |= begin_writing(f);
    while (f->begun && write_some(f))
        moved = true;
    return (f->begun && finish_writing(f)) || moved;
}

void mtp_over(struct mtp_flow *f, enum mtp_side from)
{
    mtp_end(f);
    f->way[from].state = MTP_RELAY;
}
