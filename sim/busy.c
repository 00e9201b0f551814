#include "busy.h"

void busy_init(struct busy *b, const struct busy_config *cfg)
{
    *b = (struct busy){.cfg = *cfg};
    share_turns_init(&b->turns);
}

static uint32_t cost_of(const struct frame *f)
{
    return f->bytes + (uint32_t)BUSY_FRAME_BYTES;
}

/* From now on other jobs wait, or with other weights. */
void busy_reweigh(struct busy *b)
{
    for (unsigned i = 0; i < AGG_JOBS; i++)
        b->line[i].served = 0;
}

/* As share/turns.h says: that of one divided by its quantum, and that of the other, differ by less than four
 * quanta, and a frame of each. */
static void compare(struct busy *b, unsigned one, unsigned other)
{
    enum { FRAME_MAX = 2 << 10 };
    const int64_t q = b->cfg.quantum(b->cfg.ctx, one), r = b->cfg.quantum(b->cfg.ctx, other);
    const int64_t difference = (int64_t)b->line[one].served * r - (int64_t)b->line[other].served * q;

    if (difference > 4 * q * r + FRAME_MAX * (q + r) || -difference > 4 * q * r + FRAME_MAX * (q + r))
        b->broken = "serves jobs that wait otherwise than by their weights";
}

static void note_served(struct busy *b, unsigned flow, uint32_t cost)
{
    if (b->line[flow].frames.n == 0) {
        busy_reweigh(b);
        return;
    }
    b->line[flow].served += cost;
    for (unsigned i = 0; i < AGG_JOBS; i++)
        if (b->line[i].frames.n > 0 && i != flow)
            compare(b, flow, i);
}

static bool may_be_served(struct busy *b, unsigned flow)
{
    return b->line[flow].frames.n > 0 && share_turns_ask(&b->turns, flow, b->cfg.quantum(b->cfg.ctx, flow));
}

/* The next frame; one waits. Of one job, as long as it may be served: so jobs are as far ahead of one another
 * as they can be. */
static struct frame *next_frame(struct busy *b)
{
    for (unsigned in_vain = 0; !may_be_served(b, b->flow); b->flow = (b->flow + 1) % AGG_JOBS)
        if (++in_vain == AGG_JOBS) {
            share_turns_next(&b->turns);
            in_vain = 0;
        }
    struct frame *f = frame_line_take(&b->line[b->flow].frames);

    b->held--;
    share_turns_serve(&b->turns, b->flow, cost_of(f));
    note_served(b, b->flow, cost_of(f));
    return f;
}

static void on_turn(void *ctx, uint64_t stint)
{
    struct busy *b = ctx;

    if (stint != b->stint)
        return;
    b->serving = b->held > 0;
    if (!b->serving)
        return;
    struct frame *f = next_frame(b);
    sim_at(b->cfg.sim, b->cfg.sim->now + cost_of(f) * b->cfg.ns_per_kb / 1024, on_turn, b, b->stint);
    b->cfg.serve(b->cfg.ctx, f);
}

void busy_put(struct busy *b, unsigned flow, struct frame *f)
{
    struct frame_line *line = &b->line[flow].frames;

    if (b->cfg.ns_per_kb == 0) {
        b->cfg.serve(b->cfg.ctx, f);
        return;
    }
    if (line->n >= 2 * (BUSY_PLACES - b->held)) {
        b->lost++;
        frame_free(f);
        return;
    }
    frame_line_put(line, f);
    if (line->n == 1)
        busy_reweigh(b);
    b->held++;
    b->waited++;
    may_be_served(b, flow); /* it takes part from now on, not only when it is looked at */
    if (!b->serving) {
        b->serving = true;
        sim_at(b->cfg.sim, b->cfg.sim->now, on_turn, b, b->stint);
    }
}

void busy_drop(struct busy *b)
{
    for (unsigned i = 0; i < AGG_JOBS; i++)
        frame_line_drop(&b->line[i].frames);
    b->held = 0;
    share_turns_init(&b->turns);
    busy_reweigh(b);
    b->stint++;
    b->serving = false;
}
