/* How threads wait for a job's calls. Who finds that nobody drives does so himself, until his own call has
 * ended; then another who waits takes over, or the job's progress thread. For threads without the job's lock.
 */
#pragma once

#include "job.h"

/* Returns when one of them has ended: which, of n; n > 0. */
size_t await_any(struct swagg_job *job, struct swagg_request *const requests[], size_t n);
/* The same; or n, once `enough` says so, which is asked now and then. in_thread: from one of the library's,
 * which leaves the CPU and options.progress to the program's. Whoever waits so comes back at once: nobody
 * else is woken to go on with what is in flight meanwhile, unless he says that he does not. */
size_t await_any_or(struct swagg_job *job, struct swagg_request *const requests[], size_t n,
                    bool (*enough)(void *ctx), void *ctx, bool in_thread);

void await_leave(struct swagg_job *job);

/* Has a posted call leave: what the window lets out, unless a thread drives already, which is told. */
void await_push(struct swagg_job *job);

/* The end of a request, which goes back: 0, or its status with the text that says why. SWAGG_IN_PROGRESS, and
 * it does not: it has not ended. Only goes on with the job if nobody else would. */
int await_look(struct swagg_request *r);
int await_end(struct swagg_request *r);

/* Of one that has ended so: brings what is staged of its result to the GPU. Its status, or the job's failure.
 */
int await_staged(struct swagg_request *r, int status);

/* Puts a call that is not posted behind those in flight, and returns its end, as above. */
int await_call(struct swagg_request *r);

/* The job's progress thread: 0 or -errno. It ends before await_stop_thread returns. */
int await_start_thread(struct swagg_job *job);
void await_stop_thread(struct swagg_job *job);
