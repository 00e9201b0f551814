/* What an operator can look at. A view is called under the server's lock, and only reads. */
#ifndef SWAGG_SERVER_VIEWS_H
#define SWAGG_SERVER_VIEWS_H

#include "ps.h"
#include "views/registry_views.h"
#include "views/writer.h"

struct view {
    const char *name; /* of the command */
    bool of_job;      /* it shows one, that the request names; else job is NULL */
    void (*write)(const struct ps *ps, const struct ctl_entry *job, struct writer *w);
};

/* NULL: there is none of this name. */
const struct view *views_find(const char *name);

/* Writes the names of all, as snprintf does. */
size_t views_names(char *text, size_t room);

#endif
