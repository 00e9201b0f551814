/* DPDK's environment (EAL) in a process that is somebody else's: started once, by the first job that asks for
 * a device, and never ended, for it cannot be started twice. */
#pragma once

#include "network.h"

/* What a device's name needs: PCI devices are looked for when the EAL starts. arguments: the caller's own,
 * with spaces between them; where they say nothing of memory, hugepages are taken if enough are free, else
 * ordinary pages. 0; or -errno, with why in words: also if it runs with other arguments. Any thread. */
int eal_start(const char *device, const char *arguments, char why[NETWORK_WORDS]);

/* Has the words that DPDK logs until eal_heard collected; that returns them in one line, "": there were none.
 * Of one thread at a time, which holds a lock of its own. */
void eal_listen(void);
const char *eal_heard(void);
