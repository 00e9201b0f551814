/* What stayed with Open MPI: calls counted by function, reason, operation, type, size class and call site,
 * the place that the function returns to. Counting takes no lock, but for the first call of each kind; any
 * thread may call. */
#ifndef SHIM_LEDGER_H
#define SHIM_LEDGER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

struct call {
    const char *function; /* "MPI_Allreduce": a constant */
    enum why why;
    MPI_Op op;         /* MPI_OP_NULL: it has none */
    MPI_Datatype type; /* MPI_DATATYPE_NULL: it has none */
    size_t bytes;      /* of one rank's part */
    const void *site;
};

void ledger_count(const struct call *c);

/* A kind of calls, in words. */
struct ledger_kind {
    const char *function;
    enum why why;
    const char *op;   /* "MPI_SUM"; "" where it has none */
    const char *type; /* "MPI_INT"; "" where it has none */
    const char *size; /* "up to 64 bytes" */
};

enum { LEDGER_LABEL_MAX = 200, LEDGER_GROUPS_MAX = 64 };

struct ledger_group {
    char label[LEDGER_LABEL_MAX];
    uint64_t calls;
    unsigned sites; /* different ones */
};

/* Writes the label of the group that a kind belongs to; "": it belongs to none. */
typedef void ledger_label(const struct ledger_kind *kind, char label[LEDGER_LABEL_MAX]);

/* Groups by label what was counted, those with most calls first. Returns how many groups there are, at most
 * LEDGER_GROUPS_MAX. No thread may count meanwhile. */
unsigned ledger_groups(ledger_label *label, struct ledger_group groups[LEDGER_GROUPS_MAX]);

/* Calls in it with a reason why they stayed; of kinds that found no more room, too. */
uint64_t ledger_calls(enum why why);

#endif
