#include <inttypes.h>

#include "monotonic.h"
#include "rdma.h"

enum { TWICE_ONE_OF = 16 }; /* seeds: played once more, which must come to the same */

static void add(struct rdma_result *sum, const struct rdma_result *r)
{
    sum->tensors += r->tensors;
    sum->again += r->again;
    sum->voided += r->voided;
    sum->killed += r->killed;
    sum->renewed += r->renewed;
    sum->events += r->events;
    sum->frames += r->frames;
    sum->lost += r->lost;
    sum->damaged += r->damaged;
    sum->simulated_ns += r->simulated_ns;
}

bool rdma_run(uint64_t first, uint64_t count, bool trace)
{
    const double start = monotonic_seconds();
    struct rdma_result sum = {0};
    uint64_t failed = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        struct rdma_result r = rdma_play(seed, trace ? stdout : NULL);

        if (!r.failed && seed % TWICE_ONE_OF == 0 && rdma_play(seed, NULL).digest != r.digest) {
            r.failed = true;
            snprintf(r.text, sizeof r.text, "played again, the same seed gives something else");
        }
        add(&sum, &r);
        failed += r.failed;
        if (r.failed)
            printf("seed %" PRIu64 ": %s\n  replay: swagg-sim rdma --first %" PRIu64 " --seeds 1 --trace\n",
                   seed, r.text, seed);
    }
    printf("%" PRIu64 " scenarios of RDMA, %" PRIu64 " failed; %" PRIu64
           " tensors are right on a worker, %" PRIu64 " messages sent again, %" PRIu64 " sums void; %" PRIu64
           " runs killed, slots started over %" PRIu64 " times; %" PRIu64 " events, %" PRIu64
           " frames, %" PRIu64 " lost, %" PRIu64 " damaged; %.0f s simulated in %.1f s\n",
           count, failed, sum.tensors, sum.again, sum.voided, sum.killed, sum.renewed, sum.events, sum.frames,
           sum.lost, sum.damaged, (double)sum.simulated_ns / 1e9, monotonic_seconds() - start);
    return failed == 0;
}
