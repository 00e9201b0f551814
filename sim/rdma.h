/* SwitchML by RDMA over a bad network (docs/protocol.md, "SwitchML by RDMA"): the real pool, and real workers
 * with the NIC of an unreliable connection. A packet that is lost voids its message, and only the worker's
 * time-out has it sent again. Workers are killed in their midst and start anew after a pause in which the job
 * is left alone, and so is the switch. */
#pragma once

#include "seeds.h"

/* So many seeds; prints each failure, and what happened in all. False: one has failed. */
bool rdma_run(uint64_t first, uint64_t count, bool trace);
