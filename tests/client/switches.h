/* Several switches, and what a job calls them; a test's end stops them. */
#pragma once

#include <arpa/inet.h>
#include <string.h>

#include "loop_switch.h"
#include "unit.h"

enum { SWITCHES_MAX = 3 };

static struct {
    struct loop_switch *ls[SWITCHES_MAX];
    int n;
    char list[SWITCHES_MAX * INET_ADDRSTRLEN];
} all;

static inline void switches_add(const struct loop_switch_config *config)
{
    all.ls[all.n] = loop_switch_start(config);
    if (all.n > 0)
        strcat(all.list, ",");
    strcat(all.list, loop_switch_ip(all.ls[all.n++]));
}

static inline void switches_stop(void)
{
    while (all.n > 0)
        loop_switch_stop(all.ls[--all.n]);
    all.list[0] = '\0';
}

EACH_TEST(NULL, switches_stop)
