/* The job that nobody joins which an operator asks a switch to add while it runs ("job add"): the request has
 * "job", its name, and "settings" as an item of the configuration's list static, or of that which "list"
 * among them names. Pure.
 */
#pragma once

#include "operator/reply.h"

/* A configuration that has the job alone, for config_take_added: checked as the file's jobs are, but for what
 * it has in common with those of the running one. To be freed. NULL: the reply says why not. */
struct config *added_job_read(const struct config *running, const struct request *request,
                              struct reply *reply);
