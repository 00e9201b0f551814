/* What the daemon does on signals, a server, and swagg-tofino. SIGINT and SIGTERM stop it in good order,
 * SIGHUP has it read its configuration anew, if it can. What others may send has no meaning: it is logged,
 * and it goes on. It does not die of what it cannot write (SIGPIPE, SIGXFSZ). SIGQUIT ends it at once, with a
 * core.
 */
#pragma once

/* From here on these signals are held until signals_take reads them. To be called before there are other
 * threads. */
void signals_block(void);

/* A descriptor that is readable when a signal has come; the caller closes it. -1 with errno set. */
int signals_open(void);

enum { SIGNALS_RELOAD = -1 };

/* Reads a signal that has come: its number if it stops the process, SIGNALS_RELOAD, or 0: nothing is to be
 * done. */
int signals_take(int fd);
