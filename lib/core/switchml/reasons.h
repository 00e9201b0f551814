/* What can happen to a SwitchML packet; sml_reasons has names and meanings. */
#pragma once

#include "protocol/protocol.h"

enum sml_reason {
    /* Verdicts of its slot. With these, something is to be sent: */
    SML_SEND_ALL,
    SML_RESTORED,
    SML_SEND_ONE,
    SML_SEND_ANSWER,   /* NACK, WAIT; to a probe older than the chunk completed last, a result without a body,
                          since its sender already holds the result */
    SML_SEND_MISMATCH, /* MISMATCH; the sums are untouched */
    /* In jobs with a quorum: */
    SML_SEND_QUORUM,    /* the chunk is closed without some ranks */
    SML_SEND_LATE,      /* a contribution to the chunk that was closed last, without its sender: the result */
    SML_SEND_STRAGGLES, /* to an older one: LATE */
    /* In a tree of switches, where there is one above (relay/slots.h): */
    SML_SEND_PARENT, /* the last contribution from below: what they give together goes up */
    SML_SEND_PARENT_AGAIN,
    SML_ASK_PARENT, /* a question that the switch above may be able to answer; its sender gets an answer, too,
                       if it was a probe */
    SML_RESTORE_PARENT, /* a sum that a rank has handed back */
    SML_PARENT_RESULT,  /* from above: the result */
    SML_PARENT_WORD, /* from above: MISMATCH, which concerns the contributor with the lowest rank; REJECT, all
                      */
    /* From here on nothing is to be sent: */
    SML_HELD,
    SML_PARENT_WAITS, /* from above: WAIT */
    SML_DROP_PARENT,  /* from above: late, or not to be made sense of */
    SML_DROP_DUPLICATE,
    SML_DROP_STALE,
    SML_DROP_AHEAD,
    SML_DROP_BAD_SLOT, /* out of range, or slot and version are not those of the tag */
    SML_DROP_BAD_LENGTH,
    SML_DROP_BAD_TYPE,
    SML_DROP_BAD_CHECKSUM,
    SML_DROP_UNPROVEN, /* a keyed job's authenticator is missing or wrong */
    SML_DROP_MISMATCH, /* as SML_SEND_MISMATCH, from a published client, which knows no such answer */
    SML_DROP_BAD_KIND, /* OPEN in the published format, RESTORE in a job that was not resumed, ... */
    SML_VERDICTS,

    /* Refused before it gets to a slot. Malformed, as in enum sml_parse_error: */
    SML_REFUSED_TOO_SHORT = SML_VERDICTS,
    SML_REFUSED_BAD_KIND,
    SML_REFUSED_BAD_SIZE_CODE,
    SML_REFUSED_BAD_SLOT,
    SML_REFUSED_BAD_LENGTH,
    /* Of no job or member here: */
    SML_REFUSED_UNKNOWN_JOB,
    SML_REFUSED_FOREIGN_SENDER,
    SML_REFUSED_FOREIGN_MAC,
    SML_REASONS
};

extern const struct agg_reason sml_reasons[SML_REASONS];
extern const uint8_t sml_amiss[SML_REASONS]; /* enum agg_amiss */
