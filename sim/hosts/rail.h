/* What a rank has of its rail: the real session and stream of one member of the rail's job, and around them
 * what libswagg does, with events in the place of threads (sim/process.h, which has an application of its
 * own). The rank's process asks for one sum after the other, of elements in place. */
#pragma once

#include "process.h"

enum rail_said {
    RAIL_OPEN, /* all hosts are there */
    RAIL_SUMMED,
    RAIL_FAILED, /* for good; at any time */
};

struct rail_config {
    struct sim *sim;
    struct star *star;
    struct oracle *oracle;
    unsigned host, hosts; /* this one is a member's number, and a cable's; of how many */
    uint16_t port;        /* of control messages; data come to the next one */
    uint64_t incarnation;
    char name[CTL_NAME_MAX];
    enum xfer_mode mode;
    uint16_t slots, chunk_bytes; /* wishes */
    uint64_t join_timeout_ns;
    void (*said)(void *ctx, enum rail_said what);
    void *ctx;
};

struct rail {
    struct rail_config cfg;
    struct process p; /* as process_drive.h drives it */
    uint64_t deadline;
    bool told; /* that it has failed */
};

/* Joins; r is used until rail_free. */
void rail_start(struct rail *r, const struct rail_config *cfg);
void rail_free(struct rail *r);

/* A call with a root has it as a host. deadline: when it fails. */
void rail_sum(struct rail *r, const struct xfer_call *call, void *elements, uint64_t deadline);

/* The job cannot go on, which all hosts are told. */
void rail_abort(struct rail *r, enum ctl_reason reason, const char *why);
/* Once others do not need this rank any more. */
void rail_close(struct rail *r);
void rail_kill(struct rail *r);

bool rail_is_over(const struct rail *r);

/* Takes over the frame. False, and it does not, if it is another's. */
bool rail_receive(struct rail *r, struct frame *frame);
