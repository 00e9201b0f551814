/* Finds out whether a switch is there, and how long packets to its data ports and back may be. This is done
 * before a rank joins, so that no job begins that cannot carry data, and so that its packets fit the path.
 * Only answers count. ICMP about the path's MTU is ignored, since anybody can send it; "port unreachable"
 * only adds to what an error says. Questions of several lengths go out at once, the longest first. When the
 * shorter ones have come back a few times and a longer one never has, it does not fit.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "network.h"
#include "wire/switchml.h"

struct path_wish {
    struct network *network; /* that carries the questions */
    struct in_addr switch_ip;
    unsigned mtu;                /* at most; 0: as much as the path takes, up to what a chunk can have */
    enum xfer_checksum checksum; /* of the packets that are to follow */
    uint16_t first_port;         /* of the switch's data ports */
    size_t (*packet_bytes)(unsigned mtu,
                           enum xfer_checksum checksum); /* of the packets, as struct agg_worker has it */
    /* ns: who is silent for so long, not counting this process's standstills, is not there */
    uint64_t patience;
    uint64_t deadline;
};

enum path_state {
    PATH_OPEN = 0,
    PATH_SILENT,  /* no swagg answers */
    PATH_BLOCKED, /* the control port answers, a data port does not */
};

struct path {
    enum path_state state;
    unsigned mtu;          /* OPEN: bytes of the longest IP packet that came back */
    uint16_t blocked_port; /* BLOCKED */
    int trouble;           /* errno of the newest failure to send or receive, or 0. ECONNREFUSED: ICMP says
                              that the control port is closed */
};

/* Returns 0 with *path filled in, or -errno if there are no sockets or no route. Takes a round trip where all
 * is well, the patience otherwise, the deadline permitting. Blocks; any thread. */
int path_find(struct path *path, const struct path_wish *wish);
