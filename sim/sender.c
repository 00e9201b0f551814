#include "sender.h"

void sender_init(struct sender *s, struct sml_stream *stream, struct link *up, unsigned rank)
{
    *s = (struct sender){.stream = stream, .up = up, .rank = rank, .timer_at = UINT64_MAX};
}

static void on_timer(void *ctx, uint64_t at)
{
    struct sender *s = ctx;

    if (at == s->timer_at)
        s->timer_at = UINT64_MAX;
    sender_turn(s);
}

void sender_turn(struct sender *s)
{
    struct sim *sim = s->up->sim;
    struct xfer_send send;

    while (sml_stream_poll(s->stream, sim->now, &send)) {
        uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES];
        const size_t bytes = xfer_send_copy(&send, payload);
        struct frame *f = frame_new(s->rank, SML_PORT_FIRST, 0, payload, bytes, false);
        f->filler = bytes > SML_HEADER_BYTES ? s->filler : 0;
        link_send(s->up, f);
    }
    const uint64_t timer = sml_stream_timer(s->stream);
    if (timer < s->timer_at) {
        s->timer_at = timer;
        sim_at(sim, timer, on_timer, s, timer);
    }
}
