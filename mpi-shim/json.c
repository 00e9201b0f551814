/* Written by hand: whatever the shim links comes into every program that it is preloaded into. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "ledger.h"
#include "monotonic.h"
#include "report.h"
#include "table.h"

/* "NAME": "text", and a comma before it unless it is the first of its object. */
static void write_text(FILE *f, const char *before, const char *name, const char *text)
{
    fprintf(f, "%s\"%s\": \"", before, name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(f, "\\u%04x", *text);
        else
            putc(*text, f);
    }
    putc('"', f);
}

static void write_number(FILE *f, const char *name, uint64_t number)
{
    fprintf(f, ", \"%s\": %" PRIu64, name, number);
}

static void write_seconds(FILE *f, const char *name, uint64_t ns)
{
    fprintf(f, ", \"%s\": %" PRIu64 ".%09" PRIu64, name, ns / NS_PER_S, ns % NS_PER_S);
}

struct list {
    FILE *f;
    unsigned items;
};

static const char *next_item(struct list *l)
{
    return l->items++ ? ",\n  {" : "\n  {";
}

static void write_job(void *ctx, const struct job_facts *facts, const struct swagg_stats *s)
{
    struct list *l = ctx;
    write_text(l->f, next_item(l), "name", facts->name);
    write_text(l->f, ", ", "communicator", facts->label.text);
    write_number(l->f, "ranks", (uint64_t)facts->ranks);
    write_text(l->f, ", ", "allreduce", facts->allreduce);
    write_text(l->f, ", ", "reduce", facts->reduce);
    write_number(l->f, "slots", s->slots);
    write_number(l->f, "packet_bytes", s->elements_per_packet * UINT64_C(4));
    write_number(l->f, "window", s->window);
    write_number(l->f, "round_trip_us", s->rtt_us);
    write_number(l->f, "packets_sent", s->packets_sent);
    write_number(l->f, "retransmitted", s->retransmitted);
    write_number(l->f, "probes", s->probes);
    write_number(l->f, "resumed", s->resumed);
    putc('}', l->f);
}

static void write_group(struct list *l, const struct ledger_group *g)
{
    const struct ledger_kind *k = g->kind;
    write_text(l->f, next_item(l), "function", k->function);
    write_text(l->f, ", ", "operation", k->op);
    write_text(l->f, ", ", "type", k->type);
    write_text(l->f, ", ", "size", k->size);
    write_text(l->f, ", ", "communicator", k->label);
    write_text(l->f, ", ", "by", k->why == WHY_NOT ? "switch" : "Open MPI");
    write_text(l->f, ", ", "why", why_text(k->why));
    write_number(l->f, "call_sites", g->sites);
    write_number(l->f, "calls", g->calls);
    write_number(l->f, "in_progress", g->in_progress);
    write_number(l->f, "bytes", g->bytes);
    write_seconds(l->f, "seconds", g->ns);
    if (k->why == WHY_NOT) {
        write_seconds(l->f, "waiting_seconds", g->waited_ns);
        write_seconds(l->f, "wire_seconds", ns_between(g->waited_ns, g->ns));
    }
    putc('}', l->f);
}

static void write_groups(FILE *f)
{
    unsigned n;
    struct list l = {.f = f};
    struct ledger_group *groups = ledger_groups(table_label, &n);
    for (unsigned g = 0; g < n; g++)
        write_group(&l, &groups[g]);
    free(groups);
}

static void write_causes(FILE *f)
{
    char cause[WHY_CAUSE_MAX];
    struct list l = {.f = f};
    for (int why = 0; why < WHY_COUNT; why++)
        if (why_cause((enum why)why, cause)) {
            write_text(f, next_item(&l), "why", why_text((enum why)why));
            write_text(f, ", ", "cause", cause);
            putc('}', f);
        }
}

static void write_waits(FILE *f)
{
    int ranks;
    struct list l = {.f = f};
    uint64_t *ns = jobs_waits(&ranks);
    for (int r = 0; ns && r < ranks; r++)
        if (ns[r] > 0) {
            fprintf(f, "%s\"rank\": %d", next_item(&l), r);
            write_seconds(f, "seconds", ns[r]);
            putc('}', f);
        }
    free(ns);
}

static void write_all(FILE *f, const struct settings *s, int rank)
{
    char settings[1024];
    struct list jobs = {.f = f};
    settings_write(s, settings, sizeof settings);
    write_text(f, "{", "version", swagg_version());
    write_text(f, ",\n ", "settings", settings + strspn(settings, " "));
    fprintf(f, ",\n \"rank\": %d,\n \"jobs\": [", rank);
    jobs_each(write_job, &jobs);
    fputs("],\n \"calls\": [", f);
    write_groups(f);
    fputs("],\n \"causes\": [", f);
    write_causes(f);
    fputs("],\n \"waited_for\": [", f);
    write_waits(f);
    fputs("]}\n", f);
}

/* The file's name for this rank; false: it has none. */
static bool name_of(const char *pattern, int rank, char *name, size_t size)
{
    const char *mark = strstr(pattern, "%r");
    if (mark)
        snprintf(name, size, "%.*s%d%s", (int)(mark - pattern), pattern, rank, mark + 2);
    else
        snprintf(name, size, "%s", pattern);
    return mark || rank == 0;
}

void json_write(const struct settings *s, const char *pattern, int rank)
{
    char name[PATH_MAX], draft[PATH_MAX + 8];
    if (!name_of(pattern, rank, name, sizeof name))
        return;
    snprintf(draft, sizeof draft, "%s.part", name);
    FILE *f = fopen(draft, "we");
    bool done = false;
    if (f) {
        write_all(f, s, rank);
        done = !ferror(f);
        done = fclose(f) == 0 && done && rename(draft, name) == 0;
    }
    if (done)
        return;
    report(SWAGG_LOG_WARN,
           "SWAGG_SUMMARY_JSON: cannot write %s: %s: name a file in a directory that is there on every host, "
           "and has room",
           name, strerror(errno));
    if (f)
        unlink(draft);
}
