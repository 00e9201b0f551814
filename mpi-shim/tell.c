#include "tell.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "ledger.h"
#include "monotonic.h"
#include "offers.h"
#include "replaced.h"
#include "report.h"

enum { LINE_MAX_BYTES = 600 };

typedef void say_fn(const char *line);

static double seconds(uint64_t ns)
{
    return (double)ns / (double)NS_PER_SECOND;
}

void tell_label(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    const bool stays = k->why != WHY_NOT;
    snprintf(label, LEDGER_LABEL_MAX, "%s%s%s%s%s, %s%s%s: %s%s", k->function, *k->op ? ", " : "", k->op,
             *k->type ? ", " : "", k->type, k->size, *k->label ? ", " : "", k->label,
             stays ? MPI_LIBRARY ", " : "the switch", why_text(k->why));
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
    char ways[CROSSINGS * (CROSSOVER_TEXT + 24)] = "", line[LINE_MAX_BYTES / 2 + sizeof ways];
    if (f->posted)
        snprintf(ways, sizeof ways, "for non-blocking calls");
    for (int kind = 0, used = 0; !f->posted && kind < CROSSINGS && used < (int)sizeof ways; kind++)
        used += snprintf(ways + used, sizeof ways - (size_t)used, "%s%s %s", used ? ", " : "",
                         crossing_words[kind], f->ways[kind]);
    snprintf(line, sizeof line,
             "job %s, made for %s: %" PRIu32 " slots of %" PRIu32 " bytes, window %" PRIu32
             ", round trip %" PRIu64 " us; %s; %" PRIu64 " packets sent, %" PRIu64 " of them again, %" PRIu64
             " probes; outlived %" PRIu32 " restarts of the switch",
             f->name, f->label.text, s->slots, s->elements_per_packet * 4, s->window, s->rtt_us, ways,
             s->packets_sent, s->retransmitted, s->probes, s->resumed);
    (*say)(line);
}

/* ", 2 call sites"; empty where none is known. */
enum { SITES_MAX = 40 };
static const char *write_sites(const char *before, unsigned sites, char text[SITES_MAX])
{
    snprintf(text, SITES_MAX, "%s%u call site%s", before, sites, sites == 1 ? "" : "s");
    return sites ? text : "";
}

static void tell_group(const struct ledger_group *g, say_fn *say)
{
    char line[LINE_MAX_BYTES], waited[40] = "         -          -", now[60] = "", sites[SITES_MAX];
    if (g->kind->why == WHY_NOT)
        snprintf(waited, sizeof waited, "%10.3f %10.3f", seconds(g->waited_ns),
                 seconds(ns_between(g->waited_ns, g->ns)));
    if (g->in_progress > 0)
        snprintf(now, sizeof now, "; one in progress for %.3f s",
                 seconds(ns_between(g->since, monotonic_ns())));
    snprintf(line, sizeof line, "%10" PRIu64 " %14" PRIu64 " %10.3f %s  %s%s%s", g->calls, g->bytes,
             seconds(g->ns), waited, g->label, write_sites(", ", g->sites, sites), now);
    say(line);
}

static void tell_groups(say_fn *say)
{
    unsigned n;
    struct ledger_group *groups = ledger_groups(tell_label, &n);
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

void tell_table(const struct settings *s, say_fn *say)
{
    tell_settings(s, say);
    jobs_each(tell_job, &say);
    tell_groups(say);
    tell_causes(say);
    tell_waits(say);
}

static _Atomic uint64_t offloaded[OFFERED_WAYS][OFFERED_COUNT], bytes_offloaded, failures;

void tell_offloaded(enum offered function, int way, size_t bytes)
{
    atomic_fetch_add(&offloaded[way][function], 1);
    atomic_fetch_add(&bytes_offloaded, bytes);
}

void tell_failed(void)
{
    atomic_fetch_add(&failures, 1);
}

/* The reason; if that is a type or an operation, which one. */
static void label_reason(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    if (k->why == WHY_TYPE)
        snprintf(label, LEDGER_LABEL_MAX, "%s of %s", k->op, k->type);
    else if (k->why == WHY_OPERATION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", k->op);
    else if (k->why != WHY_FUNCTION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", why_text(k->why));
}

static void label_function(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    if (k->why == WHY_FUNCTION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", k->function);
}

/* "BEFORE a 3 at 1 call site, b 2 at 2 call sites, others 4 AFTER" of `calls` calls; nothing of none. */
static void write_label_groups(FILE *f, const char *before, ledger_label *label, uint64_t calls,
                               const char *after)
{
    enum { SHOWN = 8 };
    char sites[SITES_MAX];
    unsigned n;
    if (!calls)
        return;
    struct ledger_group *groups = ledger_groups(label, &n);
    fputs(before, f);
    for (unsigned g = 0; g < n && g < SHOWN; g++) {
        fprintf(f, "%s%s %" PRIu64 "%s", g ? ", " : "", groups[g].label, groups[g].calls,
                write_sites(" at ", groups[g].sites, sites));
        calls -= groups[g].calls;
    }
    free(groups);
    if (calls)
        fprintf(f, "%sothers %" PRIu64, n ? ", " : "", calls);
    fputs(after, f);
}

/* "allreduce 3, reduce 0, bcast 1": those two always, others where there are any. */
static void write_offloaded(FILE *f)
{
    for (int way = 0; way < OFFERED_WAYS; way++)
        for (int function = 0; function < OFFERED_COUNT; function++)
            if (offloaded[way][function] > 0 || (way == BLOCKING && function <= OFFERED_Reduce))
                fprintf(f, "%s%s %" PRIu64, way || function ? ", " : "", offered_words[way][function],
                        offloaded[way][function]);
}

void tell_summary(char *text, size_t size, const char *switch_ip)
{
    FILE *f = fmemopen(text, size, "w");
    uint64_t native = 0, in_switch = 0;
    if (!f)
        return;
    for (int why = WHY_NOT + 1; why < WHY_FUNCTION; why++)
        native += ledger_calls(why);
    for (int function = 0; function < OFFERED_COUNT; function++)
        in_switch += offloaded[BLOCKING][function] + offloaded[POSTED][function];
    fprintf(f, "switch %s: offloaded %" PRIu64 " calls, %" PRIu64 " bytes (", *switch_ip ? switch_ip : "none",
            in_switch, bytes_offloaded);
    write_offloaded(f);
    fprintf(f, "); failed %" PRIu64 "; by " MPI_LIBRARY " %" PRIu64 " calls", failures, native);
    write_label_groups(f, " (", label_reason, native, ")");
    write_label_groups(f, "; not for the switch: ", label_function, ledger_calls(WHY_FUNCTION), "");
    fclose(f);
}

/* --- the same as a JSON file. Written by hand: whatever the shim links comes into every program that it is
 * preloaded into --- */

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
    fprintf(f, ", \"%s\": %" PRIu64 ".%09" PRIu64, name, ns / NS_PER_SECOND, ns % NS_PER_SECOND);
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
    write_number(l->f, "posted", facts->posted);
    for (int kind = 0; !facts->posted && kind < CROSSINGS; kind++)
        write_text(l->f, ", ", crossing_words[kind], facts->ways[kind]);
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
    write_text(l->f, ", ", "by", k->why == WHY_NOT ? "switch" : MPI_LIBRARY);
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
    struct ledger_group *groups = ledger_groups(tell_label, &n);
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

void tell_json(const struct settings *s, const char *pattern, int rank)
{
    char name[PATH_MAX], at[PATH_MAX], draft[PATH_MAX + 8];
    if (!name_of(pattern, rank, name, sizeof name))
        return;
    FILE *f = NULL;
    bool done = false;
    errno = -replaced_at(name, at);
    if (errno == 0) {
        snprintf(draft, sizeof draft, "%s.part", at);
        f = fopen(draft, "we");
    }
    if (f) {
        write_all(f, s, rank);
        done = !ferror(f);
        done = fclose(f) == 0 && done && rename(draft, at) == 0;
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
