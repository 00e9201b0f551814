#include "lcore/offer.h"

enum {
    EVERY_NS = 1000,              /* less than a round over a few of the kernel's ports takes */
    TAKEN_NS = 1000,              /* an offer that nobody takes is over sooner */
    OFFERS_MAX = 12,              /* in a turn; nine, and a few more for programs that had more lately */
    WANTED_NS = 100000,           /* somebody who took it will want it again, for so long */
    TAKEN_LONG_NS = 1000000,      /* whoever keeps it longer is computing */
    CONTENDED_SHARE = 32,         /* then it is not offered for so many times as long ... */
    CONTENDED_NS_MAX = 100000000, /* ... but no longer: the whole machine may have stood still */
};

bool offer_is_due(const struct offer *o, uint64_t now)
{
    return now - o->offered_ns >= EVERY_NS && !offer_is_contended(o, now);
}

void offer_begin(struct offer *o, uint64_t now)
{
    o->left = now < o->wanted_until_ns ? OFFERS_MAX : 1;
}

static uint64_t contended_for(uint64_t taken)
{
    return taken < CONTENDED_NS_MAX / CONTENDED_SHARE ? taken * CONTENDED_SHARE : CONTENDED_NS_MAX;
}

bool offer_again(struct offer *o, uint64_t before, uint64_t after)
{
    const uint64_t taken = after - before;

    o->offered_ns = after;
    if (taken < TAKEN_NS)
        return --o->left > 0;
    o->wanted_until_ns = after + WANTED_NS;
    if (taken > TAKEN_LONG_NS)
        o->contended_until_ns = after + contended_for(taken);
    return false;
}
