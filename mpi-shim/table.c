#include "table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "jobs.h"
#include "monotonic.h"

enum { LINE_MAX_BYTES = 600 };

typedef void say_fn(const char *line);

static double seconds(uint64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

void table_label(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    const bool stays = k->why != WHY_NOT;
    snprintf(label, LEDGER_LABEL_MAX, "%s%s%s%s%s, %s%s%s: %s%s", k->function, *k->op ? ", " : "", k->op,
             *k->type ? ", " : "", k->type, k->size, *k->label ? ", " : "", k->label,
             stays ? "Open MPI, " : "the switch", why_text(k->why));
}

static void tell_settings(const struct settings *s, say_fn *say)
{
    char line[LINE_MAX_BYTES], settings[LINE_MAX_BYTES - 100];
    settings_write(s, settings, sizeof settings);
    snprintf(line, sizeof line, "swagg-mpi %s:%s", swagg_version(), settings);
    say(line);
}

static void tell_job(void *ctx, const struct job_facts *f, const struct swagg_stats *s)
{
    say_fn *const *say = ctx;
    char line[LINE_MAX_BYTES];
    snprintf(line, sizeof line,
             "job %s, made for %s: %" PRIu32 " slots of %" PRIu32 " bytes, window %" PRIu32
             ", round trip %" PRIu64 " us; allreduce %s, reduce %s; %" PRIu64 " packets sent, %" PRIu64
             " of them again, %" PRIu64 " probes; outlived %" PRIu32 " restarts of the switch",
             f->name, f->label.text, s->slots, s->elements_per_packet * 4, s->window, s->rtt_us, f->allreduce,
             f->reduce, s->packets_sent, s->retransmitted, s->probes, s->resumed);
    (*say)(line);
}

static void tell_group(const struct ledger_group *g, say_fn *say)
{
    char line[LINE_MAX_BYTES], waited[40] = "         -          -", now[60] = "";
    if (g->kind->why == WHY_NOT)
        snprintf(waited, sizeof waited, "%10.3f %10.3f", seconds(g->waited_ns),
                 seconds(ns_between(g->waited_ns, g->ns)));
    if (g->in_progress > 0)
        snprintf(now, sizeof now, "; one in progress for %.3f s",
                 seconds(ns_between(g->since, monotonic_ns())));
    snprintf(line, sizeof line, "%10" PRIu64 " %14" PRIu64 " %10.3f %s  %s, %u call site%s%s", g->calls,
             g->bytes, seconds(g->ns), waited, g->label, g->sites, g->sites == 1 ? "" : "s", now);
    say(line);
}

static void tell_groups(say_fn *say)
{
    unsigned n;
    struct ledger_group *groups = ledger_groups(table_label, &n);
    if (n > 0)
        say("     calls          bytes    seconds    waiting       wire  what");
    for (unsigned g = 0; g < n; g++)
        tell_group(&groups[g], say);
    free(groups);
}

static void tell_causes(say_fn *say)
{
    char cause[WHY_CAUSE_MAX], line[LINE_MAX_BYTES + WHY_CAUSE_MAX];
    for (int why = 0; why < WHY_COUNT; why++)
        if (why_cause((enum why)why, cause)) {
            snprintf(line, sizeof line, "%s: %s", why_text((enum why)why), cause);
            say(line);
        }
}

static void tell_waits(say_fn *say)
{
    enum { SHOWN = 16 };
    char line[LINE_MAX_BYTES];
    int ranks, told = 0;
    uint64_t *ns = jobs_waits(&ranks);
    size_t used = (size_t)snprintf(line, sizeof line, "waited for");
    for (; ns && told < SHOWN; told++) { /* the one that was waited for longest comes first */
        int latest = 0;
        for (int r = 0; r < ranks; r++)
            latest = ns[r] > ns[latest] ? r : latest;
        if (ns[latest] == 0)
            break;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s rank %d %.3f s", told ? "," : "",
                                 latest, seconds(ns[latest]));
        ns[latest] = 0;
    }
    free(ns);
    if (told > 0)
        say(line);
}

void table_tell(const struct settings *s, say_fn *say)
{
    tell_settings(s, say);
    jobs_each(tell_job, &say);
    tell_groups(say);
    tell_causes(say);
    tell_waits(say);
}
