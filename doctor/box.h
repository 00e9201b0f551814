/* A switch, or a server that sums, by its configuration. */
#pragma once

#include "findings.h"

struct box_wish {
    const char *file;
    bool is_server; /* a file of swagg-ps */
};
void box_look(struct findings *f, const struct box_wish *wish);
