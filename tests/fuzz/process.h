/* Processes that send control messages, for the targets of what a switch does about them. */
#pragma once

#include "control/entry.h"
#include "fuzz.h"
#include "wire/control.h"

struct process {
    struct ctl_endpoint endpoint;
    uint64_t incarnation, roster;
    uint32_t serial, epoch;
    uint16_t rank, size;
    uint8_t name;
    uint8_t hops; /* switches that it comes by; the last one has its endpoint */
};

/* Jobs of three, each process on a host of its own. */
static inline struct process process_of(unsigned i)
{
    return (struct process){.endpoint = {.ip = i, .udp_port = (uint16_t)(1000 + 2 * i)},
                            .incarnation = UINT64_MAX - i,
                            .rank = (uint16_t)(i % 3),
                            .size = 3,
                            .name = (uint8_t)(i / 3)};
}

/* The head of what it says next; versions: with odd & 1 another one than ours. */
static inline struct ctl_head take_head(struct input *in, struct process *p, uint8_t odd, bool versions,
                                        uint64_t boot_id)
{
    static const uint8_t types[] = {CTL_JOIN, CTL_JOIN, CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT};
    struct ctl_head h = {.type = types[take8(in) % sizeof types], .incarnation = p->incarnation};
    h.version = versions && odd & 1 ? take8(in) : CTL_VERSION;
    h.boot_id = odd & 2 ? take8(in) : boot_id;
    h.epoch = odd & 4 ? take8(in) : p->epoch;
    h.rank = p->rank;
    h.size = p->size;
    h.serial = odd & 32 ? take8(in) : ++p->serial;
    return h;
}

static inline void take_failure(struct input *in, struct ctl_failure *f)
{
    f->reason = take8(in);
    f->rank = take8(in);
    memset(f->text, 'x', take8(in) % CTL_TEXT_MAX);
}
