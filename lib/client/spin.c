#include "spin.h"

#include "monotonic.h"

enum {
    CHUNKS_MAX = 8, /* a longer call is not delayed by waking up, and others need the CPU */
    SPIN_US = 100,  /* at most, in a call */
    TAKEN_LONG_US = 50,
    PAUSE_SHARE = 32, /* after a long loss of the CPU, no spinning for so many times as long */
};

void spin_begin(struct spin *s, uint64_t chunks, uint64_t now)
{
    s->until = chunks <= CHUNKS_MAX ? now + SPIN_US * NS_PER_US : now;
}

void spin_offered(struct spin *s, uint64_t before, uint64_t after)
{
    uint64_t taken = ns_between(before, after);
    if (taken > TAKEN_LONG_US * NS_PER_US)
        s->wanted_until = after + taken * PAUSE_SHARE;
}
