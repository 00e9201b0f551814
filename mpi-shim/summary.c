#include "summary.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

static const char *const reasons[WHY_COUNT] = {
    [WHY_OFF] = "offload is off",
    [WHY_SMALL] = "below SWAGG_MIN_BYTES",
    [WHY_TYPE] = "data type",
    [WHY_OPERATION] = "operation is not MPI_SUM",
    [WHY_COMMUNICATOR] = "kind or size of communicator",
    [WHY_EMPTY] = "no elements",
    [WHY_ARGUMENT] = "arguments that Open MPI refuses",
    [WHY_SWITCH] = "no service from the switch",
};

static _Atomic uint64_t allreduces, reduces, bytes_offloaded, failures;
static _Atomic uint64_t stayed[WHY_COUNT];

void summary_offloaded(bool reduce, size_t bytes)
{
    atomic_fetch_add(reduce ? &reduces : &allreduces, 1);
    atomic_fetch_add(&bytes_offloaded, bytes);
}

void summary_native(enum why why)
{
    atomic_fetch_add(&stayed[why], 1);
}

void summary_failed(void)
{
    atomic_fetch_add(&failures, 1);
}

void summary_text(char *text, size_t size, const char *switch_ip)
{
    FILE *f = fmemopen(text, size, "w");
    uint64_t native = 0;
    const char *before = " (";
    if (!f)
        return;
    for (int i = 0; i < WHY_COUNT; i++)
        native += stayed[i];
    fprintf(f,
            "switch %s: offloaded %" PRIu64 " calls, %" PRIu64 " bytes (allreduce %" PRIu64
            ", reduce %" PRIu64 "); "
            "failed %" PRIu64 "; by Open MPI %" PRIu64 " calls",
            *switch_ip ? switch_ip : "none", allreduces + reduces, bytes_offloaded, allreduces, reduces,
            failures, native);
    for (int i = 0; i < WHY_COUNT; i++) {
        if (!stayed[i])
            continue;
        fprintf(f, "%s%s %" PRIu64, before, reasons[i], stayed[i]);
        before = ", ";
    }
    if (native)
        fputs(")", f);
    fclose(f);
}
