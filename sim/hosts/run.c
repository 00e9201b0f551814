#include <inttypes.h>

#include "hosts/world.h"

static void add(struct hosts_result *sum, const struct hosts_result *r)
{
    sum->events += r->events;
    sum->simulated_ns += r->simulated_ns;
    sum->succeeded += r->succeeded;
    sum->ranks_failed += r->ranks_failed;
    sum->deaths += r->deaths;
    sum->restarts += r->restarts;
    sum->resumed += r->resumed;
    sum->frames += r->frames;
    sum->lost += r->lost;
}

static struct seeds_end play(uint64_t seed, FILE *trace, void *sum)
{
    const struct hosts_result r = hosts_play(seed, trace);

    if (sum != NULL)
        add(sum, &r);
    return r.end;
}

bool hosts_run(uint64_t first, uint64_t count, bool trace)
{
    struct hosts_result sum = {0};
    const struct seeds_tally t = seeds_run("hosts", play, &sum, first, count, trace);

    printf("%" PRIu64 " scenarios of hosts (%" PRIu64 " benign), %" PRIu64 " failed; %" PRIu64
           " calls of a rank succeeded, %" PRIu64 " ranks failed, %" PRIu64
           " died; the switch restarted %" PRIu64 " times, which %" PRIu64
           " members of rails outlived; %" PRIu64 " events, %" PRIu64 " frames, %" PRIu64
           " lost; %.0f s simulated in %.1f s\n",
           count, t.benign, t.failed, sum.succeeded, sum.ranks_failed, sum.deaths, sum.restarts, sum.resumed,
           sum.events, sum.frames, sum.lost, (double)sum.simulated_ns / 1e9, t.seconds);
    return t.failed == 0;
}
