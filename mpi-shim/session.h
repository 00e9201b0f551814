/* From MPI_Init to MPI_Finalize: settings, roll call, offload, and what is told at the end; and each call in
 * between. For the fronts (front.h), which know when these are. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "ledger.h"
#include "offload.h"

/* In MPI_Init, when the ranks have exchanged what they published (rollcall.h); MPI may not be called yet.
 * `rank` and `size` are those of MPI_COMM_WORLD; threads: more than one may call MPI at once. False: it was
 * not started, and collectives are only passed on. */
bool session_start(int rank, int size, bool threads);

/* In MPI_Finalize, while MPI can still be used. Collective over MPI_COMM_WORLD. Does nothing if the session
 * was not started. */
void session_end(void);

/* Whether this thread was elsewhere; from now on it is inside the shim, and collectives that the MPI library
 * or a tracer makes there are only passed on. False: it was inside already. */
bool session_enter(void);
void session_leave(void);

/* Outside for as long as an error handler of the program's runs, which may call MPI, and may never return:
 * returns what session_step_in() is to be given if it does. */
bool session_step_out(void);
void session_step_in(bool before);

/* A collective that may go to the switch: returns what MPI's function returns. */
int session_collective(const struct collective *c);

/* Counts a collective that is only passed on, until ledger_leave(). In between, the thread should be inside.
 */
struct ledger_visit session_count(const char *function, ptrdiff_t count, MPI_Datatype type, MPI_Op op,
                                  const void *site);
