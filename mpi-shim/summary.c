#include "summary.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char *const reasons[WHY_COUNT] = {
    [WHY_OFF] = "offload is off",
    [WHY_SMALL] = "below SWAGG_MIN_BYTES",
    [WHY_TYPE] = "other data types",
    [WHY_OPERATION] = "operation is not MPI_SUM",
    [WHY_COMMUNICATOR] = "kind or size of communicator",
    [WHY_EMPTY] = "no elements",
    [WHY_ARGUMENT] = "arguments that Open MPI refuses",
    [WHY_DEVICE] = "buffers in a GPU's memory",
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

/* The first few types by name; what comes later counts as "other data types". */
static struct {
    char name[64];
    uint64_t calls;
} types[6];
static pthread_mutex_t types_mutex = PTHREAD_MUTEX_INITIALIZER;

void summary_native_type(const char *name)
{
    const size_t places = sizeof types / sizeof types[0];
    size_t i = 0;
    if (!*name)
        name = "derived";
    pthread_mutex_lock(&types_mutex);
    while (i < places && *types[i].name && strcmp(types[i].name, name) != 0)
        i++;
    if (i < places) {
        snprintf(types[i].name, sizeof types[i].name, "%s", name);
        types[i].calls++;
    } else {
        summary_native(WHY_TYPE);
    }
    pthread_mutex_unlock(&types_mutex);
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
    const size_t named = sizeof types / sizeof types[0];
    for (int i = 0; i < WHY_COUNT; i++)
        native += stayed[i];
    for (size_t i = 0; i < named; i++)
        native += types[i].calls;
    fprintf(f,
            "switch %s: offloaded %" PRIu64 " calls, %" PRIu64 " bytes (allreduce %" PRIu64
            ", reduce %" PRIu64 "); "
            "failed %" PRIu64 "; by Open MPI %" PRIu64 " calls",
            *switch_ip ? switch_ip : "none", allreduces + reduces, bytes_offloaded, allreduces, reduces,
            failures, native);
    for (size_t i = 0; i < named && types[i].calls; i++) {
        fprintf(f, "%sdata type %s %" PRIu64, before, types[i].name, types[i].calls);
        before = ", ";
    }
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
