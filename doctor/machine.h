/* What of the machine swagg is fast or slow by: CPUs, memory, clock. */
#pragma once

#include "findings.h"

/* threads: that poll here all the time; 0: it is a host of ranks. */
void machine_cpus(struct findings *f, unsigned threads);
void machine_clock(struct findings *f);

/* Sockets' buffers of a host. */
void machine_buffers(struct findings *f);

/* Hugepages for so many megabytes. required: it does not start without. */
void machine_hugepages(struct findings *f, unsigned megabytes, bool required);

/* Memory that a NIC reads and writes must be locked. */
void machine_locked(struct findings *f);

/* An interface's or a device's node, beside the CPUs that this process may use. node: -1 is unknown. */
void machine_node(struct findings *f, const char *about, int node);
