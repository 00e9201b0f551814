/* An ATP worker's side of membership (protocol/worker.h). */
#ifndef SWAGG_CORE_ATP_WORKER_H
#define SWAGG_CORE_ATP_WORKER_H

#include "protocol/worker.h"

extern const struct agg_worker atp_worker;

#endif
