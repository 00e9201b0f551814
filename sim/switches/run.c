#include <inttypes.h>

#include "switches/world.h"

static void add(struct switches_result *sum, const struct switches_result *r)
{
    sum->events += r->events;
    sum->simulated_ns += r->simulated_ns;
    sum->succeeded += r->succeeded;
    sum->ranks_failed += r->ranks_failed;
    sum->lost += r->lost;
    sum->back += r->back;
    sum->agreed += r->agreed;
    sum->frames += r->frames;
    sum->dropped += r->dropped;
}

static struct seeds_end play(uint64_t seed, FILE *trace, void *sum)
{
    const struct switches_result r = switches_play(seed, trace);

    if (sum != NULL)
        add(sum, &r);
    return r.end;
}

bool switches_run(uint64_t first, uint64_t count, bool trace)
{
    struct switches_result sum = {0};
    const struct seeds_tally t = seeds_run("switches", play, &sum, first, count, trace);

    printf("%" PRIu64 " scenarios of several switches (%" PRIu64 " benign), %" PRIu64 " failed; %" PRIu64
           " calls of a rank succeeded, %" PRIu64 " ranks failed; links were given up %" PRIu64
           " times and taken back %" PRIu64 " times, ranks agreed %" PRIu64 " times; %" PRIu64
           " events, %" PRIu64 " frames, %" PRIu64 " lost; %.0f s simulated in %.1f s\n",
           count, t.benign, t.failed, sum.succeeded, sum.ranks_failed, sum.lost, sum.back, sum.agreed,
           sum.events, sum.frames, sum.dropped, (double)sum.simulated_ns / 1e9, t.seconds);
    return t.failed == 0;
}
