/* The membership's private state, and how a life of it begins with what the one before has kept. */
#ifndef SWAGG_TOFINO_MEMBERSHIP_STATE_H
#define SWAGG_TOFINO_MEMBERSHIP_STATE_H

#include "membership.h"
#include "numbers.h"
#include "registry/job_lines.h"
#include "saved.h"

struct membership {
    struct membership_parts parts;
    struct ctl_tenant tenant[CONFIG_TENANTS_MAX];
    struct numbers numbers;
    struct ctl_registry_config cfg;
    void *memory;                  /* the registry's */
    struct ctl_registry *registry; /* NULL: the helper does not know yet which jobs go on */
    struct saved *before;          /* until then: those of the life before; NULL: there are none */
    uint64_t begun;                /* the request that says which */
    bool failed;                   /* its answer was no */
    struct job_lines lines;        /* in the log */
    uint64_t now;                  /* when it was last called */
    uint64_t kept;                 /* the fingerprint of what is in the file, or was to be */
    bool unwritten;                /* it could not be written, and is to be tried again */
};

/* Writes what the next life is to know, if it has changed. */
void membership_keep(struct membership *m);

/* Tells the helper the place, and the jobs that the life before has left. Returns the request. */
uint64_t membership_ask_to_begin(struct membership *m);
/* Makes the registry. kept: the numbers of those jobs that the switch has; these go on. */
void membership_begin(struct membership *m, const json_t *kept, uint64_t now);

#endif
