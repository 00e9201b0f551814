#include "spin.h"

#include "monotonic.h"

enum {
    CHUNKS_MAX = 128,    /* a longer call is hardly delayed by waking up, and others need the CPU */
    SPIN_US = 100,       /* at most, in a call ... */
    SPIN_CHUNK_US = 10,  /* ... and so much more for each of its chunks: in a few us each crosses two CPUs */
    TAKEN_LONG_US = 500, /* the job's other ranks and a switch on this CPU have their turns in less */
    PAUSE_SHARE = 32,    /* after a long loss of the CPU, no spinning for so many times as long ... */
    PAUSE_MS_MAX = 100,  /* ... but no longer: the whole machine may have stood still */
};

void spin_begin(struct spin *s, uint64_t chunks, uint64_t now)
{
    s->until = chunks <= CHUNKS_MAX ? now + (SPIN_US + chunks * SPIN_CHUNK_US) * NS_PER_US : now;
}

static uint64_t pause_after(uint64_t taken)
{
    return taken < PAUSE_MS_MAX * NS_PER_MS / PAUSE_SHARE ? taken * PAUSE_SHARE : PAUSE_MS_MAX * NS_PER_MS;
}

void spin_offered(struct spin *s, uint64_t before, uint64_t after)
{
    uint64_t taken = ns_between(before, after);
    if (taken > TAKEN_LONG_US * NS_PER_US)
        s->wanted_until = after + pause_after(taken);
}
