/* Rules of the kernel's packet filter that drop swagg's packets. */
#pragma once

#include "findings.h"

/* A line of a listing of rules, as nft or iptables-save print them. */
enum firewall_line {
    FIREWALL_NOTHING,        /* it does not concern swagg */
    FIREWALL_DROPS,          /* it names a port of swagg's, or all of UDP, and drops or rejects */
    FIREWALL_ACCEPTS,        /* it names one, or what belongs to what was sent, and accepts */
    FIREWALL_DROPS_THE_REST, /* the chain of what comes in or goes out ends so */
};
enum firewall_line firewall_line(const char *line);

void firewall_look(struct findings *f);
