#include "summary.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger.h"

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
        snprintf(label, LEDGER_LABEL_MAX, "%s", why_text(k->why));
}

static void label_function(const struct ledger_kind *k, char label[LEDGER_LABEL_MAX])
{
    if (k->why == WHY_FUNCTION)
        snprintf(label, LEDGER_LABEL_MAX, "%s", k->function);
}

/* "BEFORE a 3 at 1 call site, b 2 at 2 call sites, others 4 AFTER" of `calls` calls; nothing of none. */
static void write_groups(FILE *f, const char *before, ledger_label *label, uint64_t calls, const char *after)
{
    enum { SHOWN = 8 };
    unsigned n;
    if (!calls)
        return;
    struct ledger_group *groups = ledger_groups(label, &n);
    fputs(before, f);
    for (unsigned g = 0; g < n && g < SHOWN; g++) {
        fprintf(f, "%s%s %" PRIu64 " at %u call site%s", g ? ", " : "", groups[g].label, groups[g].calls,
                groups[g].sites, groups[g].sites == 1 ? "" : "s");
        calls -= groups[g].calls;
    }
    free(groups);
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
    for (int why = WHY_NOT + 1; why < WHY_FUNCTION; why++)
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
