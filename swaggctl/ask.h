/* One request to a switch, and its answer (lib/host/operator/reply.h has the form of both). */
#ifndef SWAGGCTL_ASK_H
#define SWAGGCTL_ASK_H

#include <jansson.h>

#include "instances.h"

/* Connects, and asks. The answer is an object, the caller's to release; NULL: why says what is wrong. request
 * is not taken over. */
json_t *ask(const struct instance *instance, const json_t *request, char why[INSTANCE_WHY_MAX]);

/* The same on a connection that stays open; what comes after the answer's line is not read. */
json_t *ask_on(int fd, const struct instance *instance, const json_t *request, char why[INSTANCE_WHY_MAX]);

/* A request with this command; add its arguments. */
json_t *ask_request(const char *command);

#endif
