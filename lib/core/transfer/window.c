#include "transfer/window.h"

enum {
    FLOOR = 4,        /* many ranks may share a short queue */
    START = 32,       /* the paper's batch */
    QUEUE_MIN = 32,   /* packets to keep queued, at least ... */
    QUEUE_MAX = 256,  /* ... and at most: what a host needs to ride out some milliseconds without a CPU */
    CAREFUL = 64,     /* rounds after a loss */
    OVERRUN = 8,      /* more than one loss in so many chunks means congestion */
    EVIDENCE = 64,    /* as many chunks tell how many are lost */
    CHANCE = 32,      /* as few as one in so many happen by chance */
    SHRINK_STEPS = 8, /* how gently to shrink */
    STEPS = 64,       /* ... and to try what the path bears */
};

/* A queue that takes longer to pass helps no host. So ranks that share a slow link share one queue. */
static const uint64_t QUEUE_MAX_NS = 30000000;

static uint32_t min32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t clamp(const struct xfer_window *w, uint32_t size)
{
    return size < w->floor ? w->floor : min32(size, w->bearable);
}

static void start_round(struct xfer_window *w, uint64_t next)
{
    w->round_end = next;
    w->round_rtt = 0;
    w->lossy = false;
    w->limited = false;
}

void xfer_window_init(struct xfer_window *w, uint32_t ceiling, uint32_t slots)
{
    w->ceiling = ceiling;
    w->slots = slots;
    w->shares = 1;
    w->careful = 0;
    w->floor = min32(FLOOR, ceiling);
    w->start = min32(START, ceiling);
    xfer_window_restart(w, 0);
}

void xfer_window_restart(struct xfer_window *w, uint64_t next)
{
    w->size = w->start;
    w->held = 0;
    w->bearable = w->ceiling;
    w->delivered = w->lost = w->excess = 0;
    start_round(w, next);
}

static uint32_t max32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void xfer_window_share(struct xfer_window *w, uint32_t shares, bool idle, uint64_t next)
{
    w->shares = max32(shares, 1);
    if (!idle || w->shares == 1)
        return;
    w->size = clamp(w, min32(w->size, max32(w->held, w->start / w->shares)));
    start_round(w, next);
}

/* A window that leaves enough slots to recover from losses without a stall, or with a short one. */
static uint32_t roomy(const struct xfer_window *w)
{
    return w->careful > 0 ? w->slots * 2 / 7 : w->slots / 2;
}

/* How many packets to keep queued if the path itself holds `held`. */
static uint32_t queue(const struct xfer_window *w, uint32_t held)
{
    const double in_time = (double)w->size * (double)QUEUE_MAX_NS / (double)w->round_rtt;
    uint32_t room = roomy(w) > held ? roomy(w) - held : 0;

    room = in_time < room ? (uint32_t)in_time : room;
    return max32(QUEUE_MIN / w->shares, min32(room, QUEUE_MAX / w->shares));
}

/* How many packets the path itself holds, as far as this round tells. */
static uint32_t held_by_path(const struct xfer_window *w, uint64_t base_ns)
{
    if (w->round_rtt == 0 || base_ns == 0)
        return w->size;
    return (uint32_t)((double)w->size * (double)base_ns / (double)w->round_rtt);
}

/* The size to go to after this round. */
static uint32_t judge(const struct xfer_window *w, uint32_t held)
{
    if (w->round_rtt == 0)
        return w->size;

    uint32_t target = held + queue(w, held);
    if (target < w->size)
        return w->size - (w->size - target + SHRINK_STEPS - 1) / SHRINK_STEPS;
    return w->limited ? w->size + (target - w->size + 1) / 2 : w->size;
}

/* More than `allowed` chunks were lost. */
static void cut(struct xfer_window *w, uint32_t bearable, uint32_t allowed)
{
    if (w->excess == 0)
        w->before = w->bearable;
    w->excess += w->lost - allowed;
    w->bearable = bearable;
}

/* How large a window the path bears. Where more is lost than by chance, and packets queue, a queue is full:
 * that is remembered, and a larger one is tried little by little. A loss among few chunks tells nothing:
 * rounds of a small window are counted together. */
static void learn(struct xfer_window *w, uint32_t held)
{
    const uint32_t of = w->delivered < EVIDENCE ? EVIDENCE : w->delivered;
    const bool overrun = w->lost > of / OVERRUN;

    if (overrun)
        cut(w, w->size - w->size / 4, of / OVERRUN);
    else if (w->lost <= of / CHANCE)
        w->bearable += 1 + w->bearable / STEPS;
    else if (w->delivered >= EVIDENCE && held < w->size / 2)
        cut(w, w->size - 1 - w->size / STEPS, of / CHANCE);
    w->bearable = w->bearable < w->floor ? w->floor : min32(w->bearable, w->ceiling);
    if (!overrun && w->delivered < EVIDENCE)
        return;
    if (w->lost <= of / CHANCE) /* what has not been found by now was lost */
        w->excess = 0;
    w->delivered = w->lost = 0;
}

void xfer_window_found(struct xfer_window *w)
{
    if (w->excess > 0) {
        if (--w->excess == 0)
            w->bearable = max32(w->bearable, w->before);
    } else if (w->lost > 0) {
        w->lost--;
    }
}

/* The first loss after a while ends the long queue at once, since a long queue hides how little the path
 * itself holds. */
static void take_care(struct xfer_window *w)
{
    const bool first = w->careful == 0;

    w->careful = CAREFUL;
    if (first)
        w->size = clamp(w, min32(w->size, roomy(w)));
}

void xfer_window_result(struct xfer_window *w, uint64_t position, uint64_t next, bool lost, uint64_t rtt_ns,
                        uint64_t base_ns)
{
    w->delivered++;
    w->lost += lost;
    w->lossy |= lost;
    if (rtt_ns != 0 && (w->round_rtt == 0 || rtt_ns < w->round_rtt))
        w->round_rtt = rtt_ns;
    if (position < w->round_end)
        return;

    const uint32_t held = w->held = held_by_path(w, base_ns);
    learn(w, held);
    w->size = clamp(w, judge(w, held));
    if (w->lossy)
        take_care(w);
    else if (w->careful > 0)
        w->careful--;
    start_round(w, next);
}
