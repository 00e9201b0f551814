/* A SwitchML worker's side of membership (protocol/worker.h). */
#ifndef SWAGG_CORE_SWITCHML_WORKER_H
#define SWAGG_CORE_SWITCHML_WORKER_H

#include "protocol/worker.h"

extern const struct agg_worker sml_worker;

#endif
