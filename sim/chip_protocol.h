/* The program for Tofino chips, interpreted in a process of its own (tests/p4/chip_pipe.py), as a protocol
 * that the simulated switch carries in the place of ours, as that of the paper's switch (paper_protocol.h):
 * what comes to a data port goes to that process, and what it answers leaves the switch.
 *
 * It adds int32 in published packets, and takes no jobs back after a restart. */
#pragma once

#include "protocol/protocol.h"

/* The command that interprets the program; each process of the simulator starts one when it needs it.
 * Outlives everything. */
void chip_protocol_set(const char *command);

struct agg_protocol chip_protocol(void);
