/* A switch for tests on loopback: the real registry and pools behind two kernel UDP sockets, with
 * impairments, and with a way to kill it and start it again. It runs in a thread of its own and has a
 * loopback address of its own, so that tests may run side by side.
 *
 * All functions are for the thread that made it. They end the process with a message when the machine gives
 * no sockets, memory or threads. */
#pragma once

#include <stdint.h>

#include "impair/impair.h"
#include "keys/keys.h"
#include "wire/control.h"

struct loop_switch_config {
    uint64_t seed;                /* decides what the impairments hit */
    struct impair_config in, out; /* of datagrams to the switch and from it, data and control alike */
    bool damages; /* damaged data packets arrive, as without UDP's checksum; else they count as lost */
    unsigned lost_after_ms; /* 0: a minute: who is merely slow is not lost */
    bool full;              /* no job by SwitchML finds slots */
    unsigned deaf;          /* ranks that the switch's data packets do not reach: bit r for rank r < 32 */
    /* What the network is like around it: the longest IP packet that gets through to the data port, and back
     * from it. 0: any; 1: none does. */
    unsigned mtu_in, mtu_out;
    /* it hears nothing, in its first life, until so many datagrams came to the control port */
    unsigned ignores;
    enum ctl_type loses; /* of this type the first control message to it is lost; 0: of none */
    /* which workers may join with, or without; NULL: there is none. The caller's */
    const struct keys_key *key;
};

struct loop_switch;

struct loop_switch *loop_switch_start(const struct loop_switch_config *config);
const char *loop_switch_ip(const struct loop_switch *ls);

/* As kill -9: all state is gone, the ports are closed. */
void loop_switch_kill(struct loop_switch *ls);
/* Starts a killed one again, at the same address; it reaches everybody. */
void loop_switch_revive(struct loop_switch *ls);

/* Datagrams on the data port taken in so far, in this life; but not who asks about the path to it, before he
 * joins: he does so the more often the longer he waits for an answer. */
uint64_t loop_switch_packets(const struct loop_switch *ls);

/* It takes in so many of them in a life, and then nothing at all: a test that is to kill it there finds it
 * there, however late it comes. 0: no end. */
void loop_switch_take(struct loop_switch *ls, uint64_t packets);
/* Waits until it has taken them in, kills it, and starts it again later, to take in so many more. */
void loop_switch_restart_there(struct loop_switch *ls, long after_ms, uint64_t packets);

void loop_switch_stop(struct loop_switch *ls);
