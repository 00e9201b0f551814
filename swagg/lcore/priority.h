/* Going before whatever else runs on the CPUs: everybody behind the switch waits for it, and it naps when
 * there is nothing to do. Who has started it with a higher priority is not contradicted.
 */
#ifndef SWAGG_LCORE_PRIORITY_H
#define SWAGG_LCORE_PRIORITY_H

/* The calling thread's. 0, or -errno. */
int priority_raise_thread(void);

/* The session's, if this process leads one, as a service does. Where the kernel groups tasks by session
 * (/proc/sys/kernel/sched_autogroup_enabled), threads of different sessions share a CPU by that alone. */
void priority_raise_session(void);

#endif
