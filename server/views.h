/* What an operator can look at. A view is called under the server's lock, and only reads. */
#ifndef SWAGG_SERVER_VIEWS_H
#define SWAGG_SERVER_VIEWS_H

#include "ps.h"
#include "show/writer.h"

struct view {
    const char *name; /* of the command */
    /* name: of a job; NULL: none was given. 0; -ENOENT: there is none of this name; -EINVAL: a name is
     * needed. Nothing has been written then. */
    int (*write)(const struct ps *ps, const char *name, struct writer *w);
};

/* NULL: there is none of this name. */
const struct view *views_find(const char *name);

#endif
