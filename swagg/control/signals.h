/* What becomes of the signals that a daemon may be sent.
 *
 * SIGINT, SIGTERM and SIGHUP stop it in order (SIGHUP not where it was started with that ignored, as by
 * nohup). SIGUSR1, SIGUSR2 and the alarms mean nothing here: it says so and goes on.
 */
#ifndef SWAGG_CONTROL_SIGNALS_H
#define SWAGG_CONTROL_SIGNALS_H

/* From here on they wait until signals_take reads them, in whatever thread they arrive. Call it before there
 * are other threads. */
void signals_block(void);

/* A descriptor that is readable when one has come, the caller's to close; -1 with errno set. */
int signals_open(void);

/* One that has come: its number if it stops us, else 0. */
int signals_take(int fd);

#endif
