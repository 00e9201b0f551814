#include "hosts/run.h"

#include <inttypes.h>
#include <stdio.h>

#include "hosts/world.h"
#include "monotonic.h"

enum { TWICE_ONE_OF = 16 }; /* seeds: played once more, which must come to the same */

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

bool hosts_run(uint64_t first, uint64_t count, bool trace)
{
    const double start = monotonic_seconds();
    struct hosts_result sum = {0};
    uint64_t failed = 0, benign = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        struct hosts_result r = hosts_play(seed, trace ? stdout : NULL);
        if (!r.failed && seed % TWICE_ONE_OF == 0 && hosts_play(seed, NULL).digest != r.digest) {
            r.failed = true;
            snprintf(r.text, sizeof r.text, "played again, the same seed gives something else");
        }
        add(&sum, &r);
        failed += r.failed;
        benign += r.benign;
        if (r.failed)
            printf("seed %" PRIu64 ": %s\n  replay: swagg-sim hosts --first %" PRIu64 " --seeds 1 --trace\n",
                   seed, r.text, seed);
    }
    printf("%" PRIu64 " scenarios of hosts (%" PRIu64 " benign), %" PRIu64 " failed; %" PRIu64
           " calls of a rank succeeded, %" PRIu64 " ranks failed, %" PRIu64
           " died; the switch restarted %" PRIu64 " times, which %" PRIu64
           " members of rails outlived; %" PRIu64 " events, %" PRIu64 " frames, %" PRIu64
           " lost; %.0f s simulated in %.1f s\n",
           count, benign, failed, sum.succeeded, sum.ranks_failed, sum.deaths, sum.restarts, sum.resumed,
           sum.events, sum.frames, sum.lost, (double)sum.simulated_ns / 1e9, monotonic_seconds() - start);
    return failed == 0;
}
