#include "tat_table.h"

#include <stdlib.h>

enum { RUNS_MAX = 99 };

static const char *const kind_names[] = {[TAT_OURS] = "ours", [TAT_PAPER] = "paper"};

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct tat_result *)a)->seconds, y = ((const struct tat_result *)b)->seconds;

    return (x > y) - (x < y);
}

static struct tat_result median(const struct tat_table_config *cfg, enum tat_worker_kind kind, unsigned gbps,
                                uint32_t loss_ppm, bool *exact)
{
    struct tat_result results[RUNS_MAX];
    struct tat_config run = cfg->base;
    unsigned runs = cfg->runs > RUNS_MAX ? RUNS_MAX : cfg->runs;

    run.kind = kind;
    run.bits_per_s = gbps * UINT64_C(1000000000);
    run.loss_ppm = loss_ppm;
    for (unsigned i = 0; i < runs; i++) {
        run.seed = i + 1;
        results[i] = tat_run(&run);
        *exact &= results[i].exact;
    }
    qsort(results, runs, sizeof(results[0]), by_seconds);
    return results[runs / 2];
}

static void print_row(const struct tat_table_config *cfg, enum tat_worker_kind kind, unsigned gbps,
                      uint32_t loss_ppm, const struct tat_result *r, double inflation)
{
    printf("%5u  %8.4f  %-5s  %10.3f  %9.3f  %6.3f  %9llu  %9llu  %7llu\n", gbps, loss_ppm / 1e4,
           kind_names[kind], r->seconds * 1e3, inflation, r->wire_share, (unsigned long long)r->packets,
           (unsigned long long)r->retransmitted, (unsigned long long)r->probes);
    if (cfg->json == NULL)
        return;
    if (loss_ppm == 0)
        fprintf(cfg->json, ",\n  \"sim_%ug_%s_tat_ms\": %.4f", gbps, kind_names[kind], r->seconds * 1e3);
    else
        fprintf(cfg->json, ",\n  \"sim_%ug_%s_loss_inflation_%gpct\": %.4f", gbps, kind_names[kind],
                loss_ppm / 1e4, inflation);
}

static bool print_speed(const struct tat_table_config *cfg, unsigned gbps)
{
    bool exact = true;

    for (enum tat_worker_kind kind = TAT_OURS; kind <= TAT_PAPER; kind++) {
        struct tat_result clean = median(cfg, kind, gbps, 0, &exact);
        print_row(cfg, kind, gbps, 0, &clean, 1);
        for (unsigned i = 0; i < cfg->losses; i++) {
            struct tat_result r = median(cfg, kind, gbps, cfg->loss_ppm[i], &exact);
            print_row(cfg, kind, gbps, cfg->loss_ppm[i], &r, r.seconds / clean.seconds);
        }
    }
    return exact;
}

bool tat_table(const struct tat_table_config *cfg)
{
    const struct tat_config *b = &cfg->base;
    bool exact = true;

    printf(
        "%u workers, %.1f MB each, %u slots of %u bytes, %.1f us one way, queues of %u KB, the paper's timer "
        "is %.1f ms, medians of %u",
        b->workers, (double)b->tensor_bytes / 1e6, b->slots, b->chunk_bytes, (double)b->delay_ns / 1e3,
        b->queue_bytes >> 10, (double)b->paper_timeout_ns / 1e6, cfg->runs);
    if (b->threads > 1 || b->calls > 1)
        printf("; ours: %u threads each, %u calls", b->threads, b->calls);
    printf("\n\n");
    printf(" Gb/s    loss %%  timer      TAT ms  inflation    wire    packets    resent   probes\n");
    if (cfg->json != NULL)
        fprintf(cfg->json, "{\n  \"sim_workers\": %u", b->workers);
    for (unsigned i = 0; i < cfg->speeds; i++)
        exact &= print_speed(cfg, cfg->gbps[i]);
    if (cfg->json != NULL)
        fprintf(cfg->json, "\n}\n");
    if (!exact)
        printf("\nWRONG SUMS\n");
    return exact;
}
