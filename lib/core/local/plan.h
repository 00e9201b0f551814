/* Which ranks of a job share a machine's memory, and what each of them has to do for the others there.
 *
 * The level within a machine is called *local*. Local rank: a rank's number among those of its host, in the
 * order of their ranks. Hosts are numbered in the order of their lowest ranks. Rail i: the ranks with local
 * number i, one on each host; what they have in common goes by a job of their own, whose members are the
 * hosts. A host with fewer ranks than another bounds the number of rails: ranks beyond have none, and only
 * add in shared memory.
 *
 * Pure and reentrant; memory is the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/control.h"
#include "wire/ranks.h"

/* The version of what ranks of one host agree on (board.h: its layout, the length of a block, who sums what).
 * Ranks of other versions do not sum together in shared memory. */
enum { LOCAL_VERSION = 2 };

enum { LOCAL_RAILS_MAX = 8 }; /* a job's; each is a job of the switch */

struct local_plan {
    uint16_t ranks, hosts;
    uint16_t rails;                 /* 0: there is one host */
    bool even;                      /* all hosts have the same number of ranks */
    uint16_t host[CTL_RANKS_MAX];   /* of each rank */
    uint16_t number[CTL_RANKS_MAX]; /* its local rank */
    uint16_t locals[CTL_RANKS_MAX]; /* of each host: how many ranks it has */
};

/* ids[rank]: whose memory the rank has mapped, the same number for all who have mapped the same; 0: nobody's
 * but its own. */
void local_plan_make(struct local_plan *plan, const uint64_t ids[], unsigned ranks);

/* The ranks of a host. */
struct ctl_ranks local_plan_ranks(const struct local_plan *plan, unsigned host);
/* The rank with a local number of a host; there is one. */
unsigned local_plan_rank(const struct local_plan *plan, unsigned host, unsigned number);

/* A stretch of elements. */
struct local_share {
    uint64_t first, count;
};

/* What the i-th of n has of so many elements, of which `grain` in a row stay together. Those of the last may
 * be fewer, or none. */
struct local_share local_share_of(uint64_t elements, unsigned n, unsigned i, uint64_t grain);

/* A rail's job has hosts for members; what is said of its members, "rank 1", "ranks 0 and 2", is said of
 * hosts and their ranks here: "host 1 (ranks 4-7)". Words in parentheses are left alone, so it may be done
 * twice. Numbers of no host are, too. Writes at most bytes, the terminating zero included. */
void local_name_hosts(const struct local_plan *plan, const char *text, char *out, size_t bytes);

/* The name of a job that is a part of another, of at most CTL_NAME_MAX - 1 characters: "train-1~thread1". A
 * name that is too long for that is cut, and gets a hash of the whole. number < 1000. A rail's kind is
 * "rail". */
const char *local_job_name(const char *job, const char *kind, unsigned number, char name[CTL_NAME_MAX]);
