/* The table of `swagg-sim incast`. */
#include <stdio.h>

#include "incast.h"
#include "sim.h"

enum { CALLS = 5 };

/* Calls must not take more times as long as the link needs, on average. */
static const double most = 5;

static bool print_row(const struct incast_config *base, unsigned runs)
{
    struct incast_config cfg = *base;
    double ideal = 0, mean = 0, worst = 0, packets = 0, dropped = 0, probes = 0;
    bool exact = true;

    for (cfg.seed = 1; cfg.seed <= runs; cfg.seed++) {
        const struct incast_result r = incast_run(&cfg);

        for (unsigned i = 0; i < cfg.calls; i++) {
            mean += r.seconds[i] / r.ideal / (runs * cfg.calls);
            worst = r.seconds[i] / r.ideal > worst ? r.seconds[i] / r.ideal : worst;
        }
        ideal = r.ideal;
        packets += (double)r.packets;
        dropped += (double)r.dropped;
        probes += (double)r.probes;
        exact &= r.exact;
    }
    printf("%5u  %8llu  %5u  %4.1f  %-10s  %8.3f  %6.3f  %6.3f  %8.2f%%  %7.2f%%%s\n", cfg.workers,
           (unsigned long long)cfg.bits_per_s / 1000000, cfg.queue_bytes / 1024, cfg.loss_ppm / 1e4,
           cfg.compressed ? "compressed" : "numbers", ideal, mean, worst, 100 * dropped / packets,
           100 * probes / packets,
           !exact        ? "  WRONG SUMS"
           : mean > most ? "  TOO LONG"
                         : "");
    return exact && mean <= most;
}

bool incast_table(unsigned runs)
{
    static const struct {
        unsigned workers, mbits, queue_kb, loss_ppm;
    } rows[] = {
        {4, 100, 1024, 0},     {8, 100, 1024, 0},       {16, 100, 1024, 0},  {4, 1000, 512, 0},
        {16, 1000, 512, 0},    {4, 10000, 512, 0},      {16, 10000, 512, 0}, {64, 10000, 512, 0},
        {4, 100, 1024, 10000}, {16, 10000, 512, 10000},
    };
    bool ok = true;

    printf("ranks    Mbit/s  queue  loss  sums of     the link   calls: times that   dropped    probes\n");
    printf("                    KB  %%                 needs s     mean   worst\n");
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (unsigned compressed = 0; compressed < 2; compressed++) {
            const struct incast_config cfg = {.workers = rows[i].workers,
                                              .calls = CALLS,
                                              .compressed = compressed,
                                              .bytes = compressed ? 1 << 21 : 1 << 22,
                                              .bits_per_s = rows[i].mbits * UINT64_C(1000000),
                                              .loss_ppm = rows[i].loss_ppm,
                                              .queue_bytes = rows[i].queue_kb << 10};
            ok &= print_row(&cfg, runs);
        }
    return ok;
}
