/* All collectives that the program made: calls, bytes and time by function, where they went and why,
 * operation, type, size class, communicator and call site, the place that the function returns to. Counting
 * takes no lock, but for the first call of each kind; any thread may call anything here at any time. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"
#include "why.h"

struct call {
    const char *function; /* "MPI_Allreduce": a constant */
    enum why why;
    MPI_Op op;                      /* MPI_OP_NULL: it has none */
    MPI_Datatype type;              /* MPI_DATATYPE_NULL: it has none */
    size_t bytes;                   /* of one rank's part */
    const void *site;               /* NULL: it is not known */
    const struct comm_label *label; /* NULL: it is not looked at */
};

/* A kind of calls, in words. */
struct ledger_kind {
    const char *function;
    enum why why;
    const char *op;    /* "MPI_SUM"; "" where it has none */
    const char *type;  /* "MPI_INT"; "" where it has none */
    const char *size;  /* "up to 64 bytes" */
    const char *label; /* "MPI_COMM_WORLD of 4 ranks"; "" where it is not looked at */
};

/* on_new is told each kind at its first call, by the thread that makes that. NULL: nobody is. */
void ledger_init(void (*on_new)(const struct ledger_kind *kind));

struct ledger_visit {
    struct entry *entry; /* NULL: there was no room for another kind */
    uint64_t began;
};

/* Before the call, and after it: of its time, so much was waiting for ranks. */
struct ledger_visit ledger_enter(const struct call *c);
void ledger_leave(struct ledger_visit visit, uint64_t waited_ns);

enum { LEDGER_LABEL_MAX = 320 };

struct ledger_group {
    char label[LEDGER_LABEL_MAX];
    const struct ledger_kind *kind; /* one of its kinds */
    uint64_t calls, bytes;          /* calls that are in progress, too */
    uint64_t ns, waited_ns;         /* of calls that are over */
    unsigned sites;                 /* different ones that are known */
    unsigned in_progress;
    uint64_t since; /* when the call in progress that was last to begin did so (monotonic_ns) */
};

/* Writes the label of the group that a kind belongs to; "": it belongs to none. */
typedef void ledger_label(const struct ledger_kind *kind, char label[LEDGER_LABEL_MAX]);

/* Groups by label what was counted, those with most calls first: *n of them, to be given to free(). NULL:
 * none, or no memory. */
struct ledger_group *ledger_groups(ledger_label *label, unsigned *n);

/* Calls with a reason why they stayed; of kinds that found no more room, too. */
uint64_t ledger_calls(enum why why);
