/* What of swagg_stats is wanted after each call, without the rest. */
#pragma once

#include <stdint.h>

struct swagg_job;

/* swagg_stats.waited_ns. Any thread, until swagg_close. */
uint64_t job_waited(struct swagg_job *job);
