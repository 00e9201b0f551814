/* Raises the priority of the polling threads above that of other programs: all hosts behind the switch wait
 * for them, and they sleep when there is nothing to do. A higher priority that the operator has set is left
 * alone.
 */
#ifndef SWAGG_LCORE_PRIORITY_H
#define SWAGG_LCORE_PRIORITY_H

/* Raises the calling thread's priority. 0, or -errno. */
int priority_raise_thread(void);

/* Raises the session's priority, if this process leads one, as a service does. If the kernel groups tasks by
 * session (/proc/sys/kernel/sched_autogroup_enabled), only this decides how threads of different sessions
 * share a CPU. */
void priority_raise_session(void);

#endif
