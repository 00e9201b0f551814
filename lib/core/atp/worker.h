/* ATP's worker's half (transfer/worker.h). */
#pragma once

#include "transfer/worker.h"

extern const struct agg_worker atp_worker;
