#include <inttypes.h>

#include "monotonic.h"
#include "switches/world.h"

enum { TWICE_ONE_OF = 16 }; /* seeds: played once more, which must come to the same */

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

bool switches_run(uint64_t first, uint64_t count, bool trace)
{
    const double start = monotonic_seconds();
    struct switches_result sum = {0};
    uint64_t failed = 0, benign = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        struct switches_result r = switches_play(seed, trace ? stdout : NULL);

        if (!r.failed && seed % TWICE_ONE_OF == 0 && switches_play(seed, NULL).digest != r.digest) {
            r.failed = true;
            snprintf(r.text, sizeof r.text, "played again, the same seed gives something else");
        }
        add(&sum, &r);
        failed += r.failed;
        benign += r.benign;
        if (r.failed)
            printf("seed %" PRIu64 ": %s\n  replay: swagg-sim switches --first %" PRIu64
                   " --seeds 1 --trace\n",
                   seed, r.text, seed);
    }
    printf("%" PRIu64 " scenarios of several switches (%" PRIu64 " benign), %" PRIu64 " failed; %" PRIu64
           " calls of a rank succeeded, %" PRIu64 " ranks failed; links were given up %" PRIu64
           " times and taken back %" PRIu64 " times, ranks agreed %" PRIu64 " times; %" PRIu64
           " events, %" PRIu64 " frames, %" PRIu64 " lost; %.0f s simulated in %.1f s\n",
           count, benign, failed, sum.succeeded, sum.ranks_failed, sum.lost, sum.back, sum.agreed, sum.events,
           sum.frames, sum.dropped, (double)sum.simulated_ns / 1e9, monotonic_seconds() - start);
    return failed == 0;
}
