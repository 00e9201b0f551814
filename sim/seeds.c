#include "seeds.h"

#include <inttypes.h>

#include "monotonic.h"

enum { TWICE_ONE_OF = 16 };

struct seeds_end seeds_end_of(const struct oracle *o, bool benign, uint64_t digest)
{
    struct seeds_end end = {.failed = o->failed,
                            .benign = benign,
                            .digest = digest,
                            .count = {[SEEDS_EVENTS] = o->sim->events, [SEEDS_SIMULATED_NS] = o->sim->now}};

    snprintf(end.text, sizeof end.text, "%s", o->text);
    return end;
}

struct seeds_tally seeds_run(const char *command, seeds_play_fn *play, uint64_t first, uint64_t count,
                             bool trace)
{
    const double start = monotonic_seconds();
    struct seeds_tally tally = {0};

    for (uint64_t seed = first; seed < first + count; seed++) {
        struct seeds_end end = play(seed, trace ? stdout : NULL);
        if (!end.failed && seed % TWICE_ONE_OF == 0 && play(seed, NULL).digest != end.digest) {
            end.failed = true;
            snprintf(end.text, sizeof end.text, "played again, the same seed gives something else");
        }
        tally.failed += end.failed;
        tally.benign += end.benign;
        for (unsigned i = 0; i < SEEDS_COUNTS; i++)
            tally.count[i] += end.count[i];
        if (end.failed)
            printf("seed %" PRIu64 ": %s\n  replay: swagg-sim %s --first %" PRIu64 " --seeds 1 --trace\n",
                   seed, end.text, command, seed);
    }
    tally.seconds = monotonic_seconds() - start;
    return tally;
}
