/* The answers to telemetry commands. Each fills d; or returns -ENOENT or -EINVAL, if the parameter names
 * nothing that there is. Called on DPDK's telemetry thread. */
#ifndef SWAGG_SHOW_VIEWS_H
#define SWAGG_SHOW_VIEWS_H

#include <rte_telemetry.h>

#include "show/parts.h"

typedef int view_fn(const struct show_parts *parts, const char *params, struct rte_tel_data *d);

view_fn view_info, view_ports, view_port, view_drops, view_counters, view_verdicts, view_mac, view_lcores,
    view_lcore;
view_fn view_jobs, view_job, view_slots;

#endif
