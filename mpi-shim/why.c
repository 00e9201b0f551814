#include "why.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[WHY_COUNT] = {
    [WHY_NOT] = "",
    [WHY_OFF] = "offload is off",
    [WHY_SMALL] = "below SWAGG_MIN_BYTES",
    [WHY_FASTER] = "faster with " MPI_LIBRARY,
    [WHY_KEPT] = "faster with " MPI_LIBRARY " in an earlier run",
    [WHY_UNMEASURED] = "not measured yet",
    [WHY_TYPE] = "not in the switch with this type",
    [WHY_OPERATION] = "an operation that the switch has not",
    [WHY_NUMBERS] = "not a sum that SWAGG_NUMBERS is for",
    [WHY_INTERCOMMUNICATOR] = "an intercommunicator",
    [WHY_ALONE] = "a communicator of one rank",
    [WHY_CROWD] = "more ranks than a job may have",
    [WHY_LATER] = "processes that were spawned or joined later",
    [WHY_SWITCH] = "no service from the switch",
    [WHY_JOB] = "not in a job with these settings",
    [WHY_POSTED] = "non-blocking, before a blocking collective",
    [WHY_AGAIN] = "non-blocking, with SWAGG_FALLBACK=native",
    [WHY_LARGE] = "of 2G or more",
    [WHY_EMPTY] = "no elements",
    [WHY_ARGUMENT] = "arguments that " MPI_LIBRARY " refuses",
    [WHY_DEVICE] = "buffers in a GPU's memory",
    [WHY_FUNCTION] = "a collective that is not offloaded",
};

const char *why_text(enum why why)
{
    return texts[why];
}

static char causes[WHY_COUNT][WHY_CAUSE_MAX]; /* under the mutex */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void why_note(enum why why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&mutex);
    vsnprintf(causes[why], sizeof causes[why], format, args);
    pthread_mutex_unlock(&mutex);
    va_end(args);
}

bool why_cause(enum why why, char cause[WHY_CAUSE_MAX])
{
    pthread_mutex_lock(&mutex);
    memcpy(cause, causes[why], sizeof causes[why]);
    pthread_mutex_unlock(&mutex);
    return *cause;
}
