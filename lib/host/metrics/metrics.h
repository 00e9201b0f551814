/* /metrics: what Prometheus scrapes of a host of a registry, and a page that shows it live, over HTTP, on a
 * thread of its own that nothing waits for: neither data nor operators are held up by a scraper, however
 * slow. Off unless the configuration names an address.
 *
 * Bounded: one sample a second is made, whoever asks; as many connections as METRICS_CONNECTIONS at once,
 * each for as long as METRICS_SILENT_S without a sign of life; and as many ranks with series of their own as
 * metrics.ranks says.
 *
 * No DPDK.
 */
#pragma once

#include <pthread.h>

#include "config/config.h"
#include "views/declared.h"

enum { METRICS_CONNECTIONS = 16, METRICS_SILENT_S = 10 };

struct metrics;

/* Who is watched. */
struct metrics_host {
    const char *kind;         /* "switch", for the log */
    struct view_source views; /* are filled on the metrics' thread */
    /* Starts a thread. 0, or -errno. NULL: as pthread_create does. */
    int (*start_thread)(pthread_t *thread, void *(*main)(void *), void *argument);
};

/* Begins to answer. *m is NULL if the configuration wants none. What host points to outlives it. 0, or -errno
 * after logging. */
int metrics_start(struct metrics **m, const struct metrics_host *host, const struct config_metrics *cfg);

/* When it returns the thread has ended. m may be NULL. */
void metrics_stop(struct metrics *m);

/* All metrics as text, in Prometheus's format, or with open in OpenMetrics; at most so many ranks of all jobs
 * have samples of their own: of each job those that are latest. To be freed. NULL: no memory. */
char *metrics_collect(const struct view_source *host, unsigned ranks, bool open, size_t *bytes);

/* What the view of the other switches of the tree tells. */
void metrics_show_peers(const struct config_metrics *cfg, struct view_out *out);

/* What the page shows, as JSON: with so many ranks at most. To be freed. NULL: no memory. */
char *metrics_live(const struct view_source *host, unsigned ranks, size_t *bytes);
