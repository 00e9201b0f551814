/* A job in a tree of switches, as one of its switches sees it (SwitchML paper, section 7): which of those
 * below it brings which ranks' contributions, and whether there is a switch above.
 *
 * Those below are the job's *contributors* here: a rank that is this switch's own, or a switch that stands
 * for several ranks and sends their sum. They are numbered from 0 by the lowest rank of each, without gaps;
 * pools, seats and verdicts count contributors wherever there is no tree count ranks. A rank that comes by
 * the switch above is nobody's here.
 *
 * Plain values; the table is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct keys_secret;

enum {
    AGG_NOBODY = 0xFFFF, /* of a rank: none of the contributors brings it */
    AGG_PARENT = 0x7FF,  /* in the place of a contributor: the switch above */
};

struct agg_node {
    uint16_t ranks;              /* of the job, wherever they are */
    const uint16_t *contributor; /* [ranks]: who brings this rank, or AGG_NOBODY */
    bool has_parent;
    uint8_t parent_job;                      /* the job's number on the wire, there */
    const struct keys_secret *parent_shared; /* by the switch above and this one, in a keyed job: not what
                                                this switch and those below share */
};
