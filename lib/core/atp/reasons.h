/* What can happen to an ATP packet at a switch and at a parameter server; the tables have names and
 * meanings. */
#pragma once

#include "protocol/protocol.h"

enum atp_switch_reason {
    /* Verdicts of its aggregator. With these, something else than the packet as it came is to be sent: */
    ATP_SWITCH_SUM = 0,   /* the sum is complete at this level */
    ATP_SWITCH_REST,      /* the sum of all but those that have passed because of a collision */
    ATP_SWITCH_PARTIAL,   /* RESEND has taken out what is there */
    ATP_SWITCH_COLLISION, /* the aggregator is another's */
    ATP_SWITCH_FORWARDED, /* of the share that is not to be added here */
    ATP_SWITCH_DIFFERS,   /* the packet is not like those before it */
    ATP_SWITCH_ALONE,     /* a RESEND that meets no aggregator, or one of another; a level with one child */
    ATP_SWITCH_AGED,      /* the sum of a chunk that nobody cared for any more */
    ATP_SWITCH_PREEMPTED, /* the sum of a job of lower priority */
    ATP_SWITCH_ASKED,     /* what there is of a chunk that a worker has asked for */
    /* The packet itself goes on: */
    ATP_SWITCH_DIRECT,   /* it asks for that, or its operation can only be done at the server */
    ATP_SWITCH_KEYED,    /* of a keyed job: a switch can add nothing that others would believe */
    ATP_SWITCH_TOO_LONG, /* the aggregators are shorter */
    ATP_SWITCH_FREED,    /* a PARAMETER, which has freed the aggregator */
    ATP_SWITCH_PASSED,   /* a PARAMETER that met none, or another answer */
    ATP_SWITCH_NOT_ATP,
    /* From here on nothing is to be sent: */
    ATP_SWITCH_HELD,
    ATP_SWITCH_DUPLICATE,
    ATP_SWITCH_BAD_CHECKSUM,
    ATP_SWITCH_REASONS
};

extern const struct agg_reason atp_switch_reasons[ATP_SWITCH_REASONS];

enum atp_reason {
    /* Verdicts of its lane. With these, something is to be sent: */
    ATP_SEND_ALL = 0,   /* the sum is complete */
    ATP_SEND_RESTORED,  /* the sum that a rank has handed back */
    ATP_SEND_ONE,       /* the sum, to who asks for it again */
    ATP_SEND_ALL_AGAIN, /* ... to all that hear the group, since several ask for it */
    ATP_SEND_WAITING,   /* who is there, to who sends again in vain */
    ATP_SEND_ASK,       /* the same, to those whose contributions are to come straight to the server, too */
    ATP_SEND_MISMATCH,  /* the sums are untouched */
    ATP_SEND_GROUP,     /* to the group, for who does not know whether he hears it */
    /* From here on nothing is to be sent: */
    ATP_HELD,
    ATP_HEARS_GROUP, /* a rank hears the group */
    ATP_DROP_DUPLICATE,
    ATP_DROP_ANSWERED, /* asks for a sum that has been sent to all again meanwhile */
    ATP_DROP_STALE,
    ATP_DROP_AHEAD,
    ATP_DROP_BAD_KIND,
    ATP_DROP_BAD_LENGTH,
    ATP_DROP_BAD_RANKS, /* the bitmaps name ranks that are not in the job, or not the sender */
    ATP_DROP_RESTORE,   /* a sum of a chunk that nobody can have one of */
    ATP_DROP_BAD_CHECKSUM,
    ATP_DROP_UNPROVEN,
    ATP_DROP_SUMMED, /* a sum, where only single contributions may come */
    ATP_VERDICTS,
    /* Refused before it gets to a lane. Malformed: */
    ATP_REFUSED_TOO_SHORT = ATP_VERDICTS,
    ATP_REFUSED_BAD_KIND,
    ATP_REFUSED_BAD_FIELD,
    ATP_REFUSED_BAD_LENGTH,
    /* Of no job or member here: */
    ATP_REFUSED_UNKNOWN_JOB,
    ATP_REFUSED_OTHER_LIFE,
    ATP_REFUSED_FOREIGN_SENDER,
    ATP_REFUSED_FOREIGN_MAC,
    ATP_REASONS
};

extern const struct agg_reason atp_reasons[ATP_REASONS];
