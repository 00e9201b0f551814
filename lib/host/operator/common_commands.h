/* What an operator can ask every host of a registry to do.
 *
 * Threads: the one that changes the registry.
 */
#pragma once

#include "operator/reply.h"
#include "registry/registry_reload.h"

/* Who is asked. */
struct common_host {
    struct registry_host *registry;
    const struct registry_reload *reload;
};

/* The job that a command is about. */
struct common_job {
    const char *called; /* by the operator */
    const char *name;   /* NULL: it was there a moment ago */
    int tenant;
    bool fixed; /* it is in the configuration, and nobody joins it */
};

struct common_command {
    const char *name;
    bool of_job; /* the request names one; else job is NULL */
    bool looks;  /* it changes nothing */
    /* Fills the reply if it fails. */
    void (*run)(const struct common_host *h, const struct common_job *job, const struct request *request,
                struct reply *reply);
};

enum { COMMON_COMMANDS = 7 };
extern const struct common_command common_commands[COMMON_COMMANDS];

/* NULL: there is none of this name. */
const struct common_command *common_command_find(const char *name);
