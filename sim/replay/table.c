#include "replay/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "memory.h"
#include "replay/play.h"
#include "sim.h"

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_head(const struct table_config *cfg)
{
    printf("a step of training on %u workers, links of %g Gb/s and %u us, simulated\n\n", cfg->workers,
           cfg->gbps, cfg->delay_us);
    printf("%-12s %10s %9s  %28s  %28s\n", "", "gradients", "computing", "switch", "best ring");
    printf("%-12s %10s %9s  %10s %8s %8s  %10s %8s %8s  %6s\n", "model", "MB", "ms", "step ms", "comm %",
           "overlap%", "step ms", "comm %", "overlap%", "gain");
}

static void print_played(const struct played *p)
{
    printf("  %10.2f %8.0f %8.0f", 1e3 * p->step_s, percent(p->shares.communication, p->step_s),
           percent(p->shares.overlap, p->shares.communication));
}

static void write_played(FILE *json, const char *name, const struct played *p)
{
    fprintf(json, "\"%s_step_ms\": %.4f, \"%s_communication_ms\": %.4f, \"%s_overlap_ms\": %.4f, ", name,
            1e3 * p->step_s, name, 1e3 * p->shares.communication, name, 1e3 * p->shares.overlap);
}

static void write_row(FILE *json, const struct table_config *cfg, const struct profile *p,
                      const struct schedule *s, const struct played *by_switch, const struct played *by_ring)
{
    fprintf(json,
            "%s {\"model\": \"%s\", \"gbps\": %g, \"workers\": %u, \"delay_us\": %u, \"scale\": %g, "
            "\"speed\": %g, \"bytes\": %llu, \"calls\": %u, \"computing_ms\": %.4f, ",
            ftell(json) > 2 ? ",\n" : "", p->model, cfg->gbps, cfg->workers, cfg->delay_us, cfg->how.scale,
            cfg->how.speed, (unsigned long long)s->elements * sizeof(float), s->buckets, 1e3 * s->compute_s);
    write_played(json, "switch", by_switch);
    write_played(json, "ring", by_ring);
    fprintf(json, "\"gain\": %.4f}", by_ring->step_s / by_switch->step_s);
}

static void add_row(const struct table_config *cfg, const struct profile *p, FILE *json)
{
    struct schedule *schedule = schedule_of(p, &cfg->how);

    if (schedule == NULL)
        sim_die("no memory");
    const struct play_config play = {.schedule = schedule,
                                     .workers = cfg->workers,
                                     .bits_per_s = (uint64_t)(cfg->gbps * 1e9),
                                     .delay_ns = cfg->delay_us * US,
                                     .slots = (uint16_t)cfg->slots};
    const struct played by_switch = play_switch(&play), by_ring = play_ring(&play);
    printf("%-12s %10.1f %9.2f", p->model, (double)schedule->elements * sizeof(float) / 1e6,
           1e3 * schedule->compute_s);
    print_played(&by_switch);
    print_played(&by_ring);
    printf("  %6.2f\n", by_ring.step_s / by_switch.step_s);
    fflush(stdout);
    if (json != NULL)
        write_row(json, cfg, p, schedule, &by_switch, &by_ring);
    free(schedule);
}

static bool fill(const struct table_config *cfg, const struct profile profiles[])
{
    FILE *json = NULL;

    if (cfg->json != NULL && (json = fopen(cfg->json, "w")) == NULL)
        return complain("--json: cannot write %s: %s", cfg->json, strerror(errno));
    if (json != NULL)
        fprintf(json, "[\n");
    print_head(cfg);
    for (unsigned i = 0; i < cfg->n; i++)
        add_row(cfg, &profiles[i], json);
    if (json == NULL)
        return true;
    fprintf(json, "\n]\n");
    const bool failed = ferror(json);
    return (fclose(json) == 0 && !failed) ||
           complain("--json: cannot write %s: %s", cfg->json, strerror(errno));
}

int replay_table(const struct table_config *cfg)
{
    struct profile *profiles = memory_of(cfg->n * sizeof(*profiles));
    char why[PROFILE_WHY];
    bool good = true;

    for (unsigned i = 0; good && i < cfg->n; i++) /* all of them, before the first is played */
        good = profile_read(&profiles[i], cfg->profiles[i], why) == 0 || complain("%s", why);
    good = good && fill(cfg, profiles);
    for (unsigned i = 0; i < cfg->n; i++)
        profile_free(&profiles[i]);
    free(profiles);
    return good ? EXIT_GOOD : EXIT_BAD;
}
