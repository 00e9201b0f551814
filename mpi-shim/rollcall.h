/* The roll call finds out which ranks have the shim, and hands rank 0's settings to all. Every rank that
 * takes part puts up a text for all others in MPI_Init (board.h). When that returns, every rank can read all
 * texts, and a text that is missing then never comes. So nobody waits for a rank that lacks the shim, and a
 * rank that starts late does not count as one that lacks it. No MPI message is sent. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "env.h"
#include "kept.h"

/* Ranks work together only if they have the same number here. It stands for everything on which ranks must
 * agree without asking: the settings' text, what is kept, the messages of agree.h, and which calls go to the
 * switch. */
#define ROLLCALL_FORMAT 19

struct roll {
    int speaker;         /* the lowest rank that takes part; it reports what all of them found */
    char trouble[400];   /* why nothing can go to the switch; empty: all ranks take part */
    struct choices kept; /* what rank 0 has of earlier runs */
};

/* In MPI_Init, before the ranks exchange what they have put up. Does nothing the second time. */
void rollcall_publish(void);

/* A number for the host of that rank of MPI_COMM_WORLD. After a roll call of several ranks without trouble.
 */
uint64_t rollcall_host(int rank);

/* When they have exchanged it, in ranks that take part, that is, without SWAGG_DISABLE. Replaces *s by rank
 * 0's settings. All such ranks come to the same answer. */
void rollcall(struct settings *s, int size, struct roll *roll);
