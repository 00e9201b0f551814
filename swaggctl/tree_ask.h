/* swaggctl tree: asks a switch, and by it all that it knows of in its tree. */
#pragma once

#include "ask.h"
#include "print.h"

/* The view (tree.h). NULL: no switch answers, and why says so. Others of the tree are asked all at once over
 * HTTP, each for as long as TREE_PATIENCE_S; who does not answer is shown as away. */
enum { TREE_PATIENCE_S = 5 };
json_t *tree_ask(const struct instance *instance, char why[INSTANCE_WHY_MAX]);
