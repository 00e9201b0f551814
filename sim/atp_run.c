#include "atp_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "atp/protocol.h"
#include "atp_world.h"
#include "monotonic.h"

static void add(struct atp_world_result *sum, const struct atp_world_result *r)
{
    sum->events += r->events;
    sum->simulated_ns += r->simulated_ns;
    sum->sums += r->sums;
    sum->frames += r->frames;
    sum->lost += r->lost;
    sum->marked += r->marked;
    sum->to_groups += r->to_groups;
    for (unsigned i = 0; i < AGG_MAX_REASONS; i++) {
        sum->counts.switch_reasons[i] += r->counts.switch_reasons[i];
        sum->counts.reasons[i] += r->counts.reasons[i];
    }
}

static void print_reasons(const char *who, const struct agg_protocol *protocol, const uint64_t reasons[])
{
    printf("%s:", who);
    for (unsigned i = 0; i < protocol->reasons; i++)
        if (reasons[i] > 0)
            printf(" %s %" PRIu64, protocol->reason[i].name, reasons[i]);
    printf("\n");
}

bool atp_run(uint64_t first, uint64_t count)
{
    const double start = monotonic_seconds();
    struct atp_world_result sum = {0};
    uint64_t failed = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        struct atp_world_config cfg;
        atp_world_draw(&cfg, seed);
        const struct atp_world_result r = atp_world_play(&cfg, seed);
        add(&sum, &r);
        failed += r.failed;
        if (r.failed)
            printf("seed %" PRIu64 ": %s\n  replay: swagg-sim atp --first %" PRIu64 " --seeds 1\n", seed,
                   r.text, seed);
    }
    printf("%" PRIu64 " scenarios of ATP, %" PRIu64 " failed; %" PRIu64 " results, %" PRIu64
           " frames, %" PRIu64 " lost, %" PRIu64 " marked, %" PRIu64
           " to groups; %.0f s simulated in %.1f s\n",
           count, failed, sum.sums, sum.frames, sum.lost, sum.marked, sum.to_groups,
           (double)sum.simulated_ns / 1e9, monotonic_seconds() - start);
    print_reasons("switches", &atp_switch_protocol, sum.counts.switch_reasons);
    print_reasons("servers", &atp_protocol, sum.counts.reasons);
    if (count > 1 && !atp_is_fair()) {
        printf("competing jobs do not get the same\n");
        failed++;
    }
    return failed == 0;
}
