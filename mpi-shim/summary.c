#include "summary.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ledger.h"

static const char *const reasons[WHY_COUNT] = {
    [WHY_OFF] = "offload is off",
    [WHY_SMALL] = "below SWAGG_MIN_BYTES",
    [WHY_FASTER] = "below the crossover",
    [WHY_NUMBERS] = "not a sum that SWAGG_NUMBERS is for",
    [WHY_COMMUNICATOR] = "kind or size of communicator",
    [WHY_EMPTY] = "no elements",
    [WHY_ARGUMENT] = "arguments that Open MPI refuses",
    [WHY_DEVICE] = "buffers in a GPU's memory",
    [WHY_SWITCH] = "no service from the switch",
};

static _Atomic uint64_t allreduces, reduces, bytes_offloaded, failures;

void summary_offloaded(bool reduce, size_t bytes)
{
    atomic_fetch_add(reduce ? &reduces : &allreduces, 1);
    atomic_fetch_add(&bytes_offloaded, bytes);
}

void summary_failed(void)
{
    atomic_fetch_add(&failures, 1);
}

/* --- groups of calls --- */

/* The reason; if that is a type or an operation, which one. */
static void label_reason(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    if (k->why == WHY_TYPE)
        snprintf(label, LEDGER_LABEL_MAX, "%s of %s", k->op, k->type);
    else if (k->why == WHY_OPERATION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", k->op);
    else if (k->why != WHY_FUNCTION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", reasons[k->why]);
}

static void label_function(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    if (k->why == WHY_FUNCTION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", k->function);
}

static void label_all(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    const char *why = k->why == WHY_TYPE        ? "not in the switch with this type"
                      : k->why == WHY_OPERATION ? "an operation that the switch has not"
                      : k->why == WHY_FUNCTION  ? "a collective that is not offloaded"
                                                : reasons[k->why];
    snprintf(label, LEDGER_LABEL_MAX, "%s%s%s%s%s, %s: %s", k->function, *k->op ? ", " : "", k->op,
             *k->type ? ", " : "", k->type, k->size, why);
}

static void write_group(FILE *f, const struct ledger_group *g)
{
    fprintf(f, "%s %" PRIu64 " at %u call site%s", g->label, g->calls, g->sites, g->sites == 1 ? "" : "s");
}

/* "BEFORE a 3 at 1 call site, b 2 at 2 call sites, others 4 AFTER" of `calls` calls; nothing of none. */
static void write_groups(FILE *f, const char *before, ledger_label *label, uint64_t calls, const char *after)
{
    enum { SHOWN = 8 };
    struct ledger_group groups[LEDGER_GROUPS_MAX];
    const unsigned n = ledger_groups(label, groups);
    if (!calls)
        return;
    fputs(before, f);
    for (unsigned g = 0; g < n && g < SHOWN; g++) {
        fputs(g ? ", " : "", f);
        write_group(f, &groups[g]);
        calls -= groups[g].calls;
    }
    if (calls)
        fprintf(f, "%sothers %" PRIu64, n ? ", " : "", calls);
    fputs(after, f);
}

void summary_text(char *text, size_t size, const char *switch_ip)
{
    FILE *f = fmemopen(text, size, "w");
    uint64_t native = 0;
    if (!f)
        return;
    for (int why = 0; why < WHY_FUNCTION; why++)
        native += ledger_calls(why);
    fprintf(f,
            "switch %s: offloaded %" PRIu64 " calls, %" PRIu64 " bytes (allreduce %" PRIu64
            ", reduce %" PRIu64 "); "
            "failed %" PRIu64 "; by Open MPI %" PRIu64 " calls",
            *switch_ip ? switch_ip : "none", allreduces + reduces, bytes_offloaded, allreduces, reduces,
            failures, native);
    write_groups(f, " (", label_reason, native, ")");
    write_groups(f, "; not for the switch: ", label_function, ledger_calls(WHY_FUNCTION), "");
    fclose(f);
}

void summary_details(void (*say)(const char *line))
{
    struct ledger_group groups[LEDGER_GROUPS_MAX];
    const unsigned n = ledger_groups(label_all, groups);
    for (unsigned g = 0; g < n; g++) {
        char line[LEDGER_LABEL_MAX + 64] = "";
        FILE *f = fmemopen(line, sizeof line, "w");
        if (!f)
            return;
        fputs("by Open MPI: ", f);
        write_group(f, &groups[g]);
        fclose(f);
        say(line);
    }
}
