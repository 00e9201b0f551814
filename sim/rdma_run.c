#include <inttypes.h>

#include "rdma.h"

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

static struct seeds_end play(uint64_t seed, FILE *trace, void *sum)
{
    const struct rdma_result r = rdma_play(seed, trace);

    if (sum != NULL)
        add(sum, &r);
    return r.end;
}

bool rdma_run(uint64_t first, uint64_t count, bool trace)
{
    struct rdma_result sum = {0};
    const struct seeds_tally t = seeds_run("rdma", play, &sum, first, count, trace);

    printf("%" PRIu64 " scenarios of RDMA, %" PRIu64 " failed; %" PRIu64
           " tensors are right on a worker, %" PRIu64 " messages sent again, %" PRIu64 " sums void; %" PRIu64
           " runs killed, slots started over %" PRIu64 " times; %" PRIu64 " events, %" PRIu64
           " frames, %" PRIu64 " lost, %" PRIu64 " damaged; %.0f s simulated in %.1f s\n",
           count, t.failed, sum.tensors, sum.again, sum.voided, sum.killed, sum.renewed, sum.events,
           sum.frames, sum.lost, sum.damaged, (double)sum.simulated_ns / 1e9, t.seconds);
    return t.failed == 0;
}
