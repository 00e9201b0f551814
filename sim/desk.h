/* The main lcore of a switch on which control messages come faster than it handles them, from a port that
 * hosts share: what is let in (control/intake.h) waits in two lines, members' messages and strangers', as
 * swagg/lcore/inbox.c and swagg/control/control.c have it, and what finds no place is lost. */
#pragma once

#include "control/intake.h"
#include "link.h"

enum { DESK_PLACES = 512, DESK_MEMBERS_AT_ONCE = 32, DESK_STRANGERS_AT_ONCE = 8 };

struct desk_config {
    struct sim *sim;
    uint64_t message_ns; /* that it takes for each; 0: it keeps up, and nothing waits */
    void (*handle)(void *ctx, struct frame *frame);        /* takes over the frame */
    void (*list_members)(void *ctx, struct ctl_known *to); /* adds all */
    void *ctx;
};

struct desk {
    struct desk_config cfg;
    struct ctl_intake_rules rules;
    struct ctl_intake intake;
    struct frame_line members, strangers;
    uint64_t stint; /* counts from the last time that it was opened */
    bool handling;  /* the event of the next messages is scheduled */
};

void desk_init(struct desk *d, const struct desk_config *cfg);

/* The switch starts: nobody is known. seed: random. */
void desk_open(struct desk *d, uint64_t seed);
/* It is killed: drops all that waits. */
void desk_close(struct desk *d);

/* Takes over a control message. */
void desk_put(struct desk *d, struct frame *frame, const struct ctl_endpoint *from);

/* To be called when the registry has ticked: who is in a job now. */
void desk_list_members(struct desk *d);
