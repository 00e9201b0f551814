#include "atp/congestion.h"

void atp_congestion_init(struct atp_congestion *c, uint32_t ceiling)
{
    const uint32_t window = ceiling < ATP_WINDOW_START ? ceiling : ATP_WINDOW_START;

    *c = (struct atp_congestion){.window = window, .threshold = ceiling, .ceiling = ceiling};
}

static void grow(struct atp_congestion *c)
{
    if (c->window >= c->ceiling)
        return;
    c->credit++;
    if (c->window >= c->threshold && c->credit < c->window)
        return;
    c->window++;
    c->credit = 0;
}

/* Once for all that was under way: what is lost or marked together tells but one thing. */
static bool halve(struct atp_congestion *c, uint64_t position, uint64_t next, uint32_t least)
{
    if (position < c->recovered)
        return false;
    c->recovered = next;
    if (c->window > least)
        c->window = c->window / 2 > least ? c->window / 2 : least;
    c->threshold = c->window;
    c->credit = 0;
    c->halved++;
    return true;
}

void atp_congestion_lost(struct atp_congestion *c, uint64_t position, uint64_t next)
{
    const uint32_t window = c->window, threshold = c->threshold;

    if (!halve(c, position, next, ATP_WINDOW_LOSSY))
        return;
    c->lost = position;
    c->window_before = window;
    c->threshold_before = threshold;
    c->regrets = true;
}

void atp_congestion_waits(struct atp_congestion *c)
{
    if (c->threshold > c->window)
        c->threshold = c->window;
}

void atp_congestion_acknowledged(struct atp_congestion *c, uint64_t position, uint64_t next, bool marked,
                                 bool collided, bool limited)
{
    if (c->regrets && position == c->lost) {
        c->regrets = false;
        if (collided && !marked && c->window_before > c->window) {
            c->window = c->window_before;
            c->threshold = c->threshold_before;
        }
    }
    if (!marked) {
        if (limited)
            grow(c);
    } else if (halve(c, position, next, ATP_WINDOW_LEAST)) {
        c->regrets = false;
    }
}
