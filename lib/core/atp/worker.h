/* ATP's worker's half (transfer/worker.h). */
#ifndef SWAGG_CORE_ATP_WORKER_H
#define SWAGG_CORE_ATP_WORKER_H

#include "transfer/worker.h"

extern const struct agg_worker atp_worker;

#endif
