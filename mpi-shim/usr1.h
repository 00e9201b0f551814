/* SIGUSR1: a thread of its own tells what this rank has to tell, at any time, also while it hangs in a call.
 * Only in programs that leave the signal as it is: a handler of the program's, set before or later, has it
 * instead. mpirun passes a SIGUSR1 that it gets on to all ranks. */
#pragma once

/* tell is called by the thread, once for each signal; of several that come at once, maybe once. */
void usr1_start(void (*tell)(void));

/* Waits for a tell that has begun. The signal ends the program again, unless that has its own handler by now.
 */
void usr1_stop(void);
