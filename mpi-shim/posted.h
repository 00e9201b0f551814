/* Non-blocking collectives that the switch does: those of a communicator go to its job one after the other,
 * in the order in which the program made them, as many at once as libswagg takes. Any thread. */
#pragma once

struct task;
struct shim_comm;

/* Makes one for which comm_way_posted() has said that it goes there, and the program's request of it. What
 * fails is the end of that. Returns MPI_SUCCESS. */
int posted_make(const struct task *t);

/* Called again and again by the MPI library while it progresses: ends what has come. Returns how many. Does
 * not wait, and does nothing while another thread is in it. */
unsigned posted_progress(void);

/* Waits until a call may have ended that is libswagg's, but not long: the MPI library wants to progress. Lets
 * others have the CPU if there is none. */
void posted_doze(void);

/* Waits until all those of a communicator have ended. */
void posted_settle(const struct shim_comm *comm);

/* Before MPI_Finalize: ends all that the program has left, with an error. */
void posted_give_up(void);
