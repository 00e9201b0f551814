/* What the library says: collective calls, and what differs between two ranks' calls, in words; the text of
 * the last error, one for each thread (swagg_last_error); and lines of the log. */
#pragma once

#include "swagg.h"
#include "wire/switchml.h"

enum { DESCRIBE_CALL_MAX = 112, DESCRIBE_MISMATCH_MAX = 352, DESCRIBE_TROUBLE_MAX = 120 };

/* The kernel's last error on the way to the switch, to be appended to a text; empty if error is 0. */
const char *describe_trouble(int error, char text[DESCRIBE_TROUBLE_MAX]);

/* "float32", "sum": the core's names of enum swagg_type and enum swagg_op. */
const char *describe_type(enum swagg_type type, enum swagg_op op);
const char *describe_op(enum swagg_op op);

/* What a job's messages call them: these two, or the caller's. */
struct describe_names {
    const char *(*type)(enum swagg_type type, enum swagg_op op);
    const char *(*op)(enum swagg_op op);
};

/* "allreduce of 1000 float32 (sum)", "reduce of 2000 float64 (sum) to rank 0" */
const char *describe_call(const struct describe_names *names, const struct xfer_call *call,
                          char text[DESCRIBE_CALL_MAX]);

/* Whether it contains the calls of both ranks. */
static inline bool describe_knows_calls(const struct xfer_mismatch *m)
{
    return m->yours.collective && m->peers.collective;
}

/* "rank 1 called allreduce ..., rank 0 called reduce ..."; "rank 1 sent 1460 bytes of f32 (sum)" where the
 * call is unknown; "rank 1 sent 1460 bytes" where packets do not tell the type either */
const char *describe_mismatch(const struct describe_names *names, const struct xfer_mismatch *m,
                              enum xfer_format format, char text[DESCRIBE_MISMATCH_MAX]);

enum { CLIENT_TEXT_MAX = 1024 };

/* Keeps the text for swagg_last_error and returns status, so that `return client_fail(...)` reads well. */
int client_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The caller's log function; may be called from either thread. */
struct logger {
    void (*log)(void *ctx, enum swagg_log_level level, const char *line); /* may be NULL */
    void *ctx;
};

void logger_write(const struct logger *l, enum swagg_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
