/* What views (views/declared.h) are filled with here. That is called under the server's lock, and only reads.
 */
#ifndef SWAGG_SERVER_VIEWS_H
#define SWAGG_SERVER_VIEWS_H

#include "ps.h"
#include "views/declared.h"

/* job: the one that the request names, of a view of one. */
typedef void ps_view_fn(const struct ps *ps, const struct ctl_entry *job, struct view_out *out);

/* NULL: a server has no such view. */
ps_view_fn *ps_view(const struct view *view);

/* Writes the names of all, as snprintf does. */
size_t ps_views_list(char *text, size_t room);

#endif
