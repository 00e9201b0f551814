/* One collective in the switch, whether it is waited for or not: how it begins, how it is counted, and what
 * is said where it fails. */
#pragma once

#include "env.h"
#include "ledger.h"
#include "offers.h"
#include "swagg.h"

struct team;

/* *s must outlive all calls; NULL: no more go to the switch. */
void attempt_init(const struct settings *s);

/* "MPI_Iallreduce" */
const char *attempt_function(const struct collective *c);

/* Notes a call in the ledger. */
struct ledger_visit attempt_enter(const struct task *t, enum why why);

/* Begins it, as struct offer has it (offers.h). */
int attempt_begin(struct task *t, struct swagg_job *job, struct swagg_request **posted);

/* Reports that one has failed in the team's job, on a communicator of this name: the error for the program.
 */
int attempt_error(const struct task *t, struct team *team, const char *name, int status, const char *text);
