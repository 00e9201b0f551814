/* A tree of switches as one view, made of what each of its switches tells. */
#pragma once

#include <jansson.h>

/* told: an array of what switches tell (`/live`, as lib/host/metrics makes it), the one that was asked first;
 * away: one of {"address", "state"}, of those that tell nothing, and why. The view has two tables:
 * `switches`, each above those below it, and `jobs` of each switch. To be released. */
json_t *tree_view(const json_t *told, const json_t *away);

/* For a reader: each switch stands as far to the right as it is below the root. */
void tree_indent(json_t *view);
