/* Static jobs that operators add while the chip runs, and delete: "job add", "job del". An added job is in
 * the running configuration before the helper is told of it, so that no reload misses it, and in the file of
 * the next life (saved.h) before the operator hears that it is there.
 *
 * Threads: the one that serves workers.
 */
#pragma once

#include "helper.h"
#include "operator/common_commands.h"

/* What the helper is to be asked for; NULL: the reply says why not. name: of the job that is to be deleted.
 */
json_t *added_begin(const struct common_host *host, const struct request *request, struct reply *reply);
json_t *added_begin_to_delete(const struct common_host *host, const char *name, struct reply *reply);

/* The helper has answered. name: of the job. done: it has done it. False: what has changed is not in the file
 * of the next life. */
typedef bool added_end_fn(const struct common_host *host, const char *name, bool done, uint64_t now);
added_end_fn added_end, added_end_to_delete;
