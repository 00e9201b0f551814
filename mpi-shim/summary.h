/* Counts what was offloaded and what was not, and why. Any thread may call. */
#ifndef SHIM_SUMMARY_H
#define SHIM_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a collective stays with Open MPI. All ranks come to the same answer for the same call. */
enum why {
    WHY_NOT = 0,      /* it does not: it goes to the switch */
    WHY_OFF,          /* no switch named, bad settings, or SWAGG_DISABLE */
    WHY_SMALL,        /* fewer bytes than SWAGG_MIN_BYTES */
    WHY_TYPE,         /* a type that the switch does not add */
    WHY_OPERATION,    /* not MPI_SUM */
    WHY_COMMUNICATOR, /* an intercommunicator, a single rank, or more ranks than a job may have */
    WHY_SWITCH,       /* the switch is not there, or said no, or was lost */
    WHY_EMPTY,        /* no elements */
    WHY_ARGUMENT,     /* arguments that Open MPI refuses; of this rank alone, as it may be */
    WHY_DEVICE,       /* a buffer in a GPU's memory; of this rank alone, as it may be */
    WHY_COUNT,
};

void summary_offloaded(bool reduce, size_t bytes);
void summary_native(enum why why);
/* For WHY_TYPE: also counts by the type's name, which is "" for a derived type. */
void summary_native_type(const char *name);
void summary_failed(void);

/* The summary in one line. */
void summary_text(char *text, size_t size, const char *switch_ip);

#endif
