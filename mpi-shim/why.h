/* Why a collective stays with the MPI library. All ranks come to the same answer for the same call. */
#pragma once

#include <stdbool.h>

enum why {
    WHY_NOT = 0,    /* it does not: it goes to the switch */
    WHY_OFF,        /* no switch named, bad settings, or SWAGG_DISABLE */
    WHY_SMALL,      /* fewer bytes than SWAGG_MIN_BYTES */
    WHY_FASTER,     /* of a size for which the MPI library is faster, as measured */
    WHY_KEPT,       /* as was measured in an earlier run */
    WHY_UNMEASURED, /* of a size that has not been measured, which goes to the MPI library meanwhile */
    WHY_TYPE,       /* a type that the switch has not, or not with this operation */
    WHY_OPERATION,  /* an operation that the switch has not: the program's own, for one */
    WHY_NUMBERS, /* a type or operation that travels in native numbers only, and SWAGG_NUMBERS says otherwise
                  */
    WHY_INTERCOMMUNICATOR,
    WHY_ALONE,    /* a communicator of one rank */
    WHY_CROWD,    /* of more ranks than a job may have */
    WHY_LATER,    /* with processes that were spawned or joined later, which may lack the shim */
    WHY_SWITCH,   /* the switch is not there, or said no, or was lost */
    WHY_JOB,      /* a job that has not such collectives: by ATP, or with scaled numbers, for one */
    WHY_POSTED,   /* non-blocking, and no blocking collective has joined a job for such calls yet */
    WHY_AGAIN,    /* non-blocking, which nobody would do again if the switch failed, and all are to be */
    WHY_LARGE,    /* more bytes than MPI_Pack takes */
    WHY_EMPTY,    /* no elements */
    WHY_ARGUMENT, /* arguments that the MPI library refuses; of this rank alone, as it may be */
    WHY_DEVICE,   /* a buffer in a GPU's memory; of this rank alone, as it may be */
    WHY_FUNCTION, /* a collective that is only counted */
    WHY_COUNT,
};

/* In words; empty for WHY_NOT. */
const char *why_text(enum why why);

enum { WHY_CAUSE_MAX = 600 };

/* What was behind WHY_OFF or WHY_SWITCH, when it was noted last: the switch's refusal, for one. Any thread.
 */
void why_note(enum why why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether there is one; it is copied. */
bool why_cause(enum why why, char cause[WHY_CAUSE_MAX]);
