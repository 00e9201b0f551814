/* Several switches, each with addresses of its own, and what a job calls them. */
#ifndef SWAGG_TESTS_SWITCHES_H
#define SWAGG_TESTS_SWITCHES_H

#include <arpa/inet.h>
#include <string.h>

#include "loop_switch.h"

enum { SWITCHES_MAX = 3 };

struct switches {
    struct loop_switch *ls[SWITCHES_MAX];
    int n;
    char list[SWITCHES_MAX * INET_ADDRSTRLEN];
};

static inline void switches_add(struct switches *s, const struct loop_switch_config *config)
{
    s->ls[s->n] = loop_switch_start(config);
    if (s->n > 0)
        strcat(s->list, ",");
    strcat(s->list, loop_switch_ip(s->ls[s->n++]));
}

static inline void switches_stop(struct switches *s)
{
    for (int i = 0; i < s->n; i++)
        loop_switch_stop(s->ls[i]);
}

#endif
