/* A kernel interface, as a port of a switch or as a host's way to one. */
#pragma once

#include "findings.h"

enum interface_use {
    INTERFACE_OF_A_HOST,   /* that ranks send by */
    INTERFACE_OF_A_SWITCH, /* whose packets swagg takes, past the kernel */
};

/* mtu: what packets are to have, 0: any. Returns the interface's, 0 if there is no such interface. */
unsigned interface_look(struct findings *f, const char *name, enum interface_use use, unsigned mtu);
