/* What the daemon does on signals. SIGINT, SIGTERM and SIGHUP stop it in good order (SIGHUP not if it was
 * ignored at the start, as nohup has it). SIGUSR1, SIGUSR2 and alarms have no meaning: they are logged, and
 * the daemon goes on.
 */
#ifndef SWAGG_CONTROL_SIGNALS_H
#define SWAGG_CONTROL_SIGNALS_H

/* From here on these signals are held until signals_take reads them. To be called before there are other
 * threads. */
void signals_block(void);

/* A descriptor that is readable when a signal has come; the caller closes it. -1 with errno set. */
int signals_open(void);

/* Reads a signal that has come: its number if it stops the daemon, else 0. */
int signals_take(int fd);

#endif
