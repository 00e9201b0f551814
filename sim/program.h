/* What the ranks of a job do: their calls, their contributions, and the sums that must come out. */
#pragma once

#include "kernels/kernels.h"
#include "random.h"
#include "switchml/pool.h"
#include "wire/control.h"

enum {
    PROGRAM_CALLS_MAX = 10,
    PROGRAM_FEW = 12 /* ranks: numbers are chosen so that sums of more may not fit */
};

/* How one rank deviates from the others. */
enum program_deviation {
    DEVIATION_NONE,
    DEVIATION_COUNT, /* calls with another count, ... */
    DEVIATION_TYPE,
    DEVIATION_COLLECTIVE,
    DEVIATION_ABORT, /* gives up instead of making the call */
    DEVIATION_LEAVE, /* closes the job instead of making the call */
    DEVIATIONS
};

struct program {
    char name[CTL_NAME_MAX];
    uint64_t seed; /* of the numbers */
    uint16_t size; /* ranks */
    enum xfer_mode mode;
    enum xfer_checksum checksum;
    enum xfer_format format;
    struct sml_table table;              /* of the calls that look up; code 0: there are none */
    bool plain;                          /* published packets only */
    uint16_t slots, chunk_bytes, window; /* wishes */
    uint64_t buffers;     /* bit r % 64: rank r buffers the reduces whose sum it does not want */
    uint64_t patience_ns; /* how long without a result a rank waits in a call that looks up, before it leaves;
                             0: for ever */
    uint16_t quorum;      /* ranks that are enough for a sum; 0: all */
    uint16_t wait_ms;     /* ... once its first contribution has waited so long */
    unsigned slow;        /* with a quorum: the rank that computes longest */
    uint64_t nics;        /* bit r % 64: rank r's packets are carried by a NIC (nic.h) */
    bool tree;            /* ranks are at several switches, so the order of adding is not that of the ranks */
    bool whole;           /* numbers that give the same result in any order only */
    unsigned tenant;      /* whose it is (tenancy.h) */
    const struct keys_key *key; /* that its ranks have; NULL: none */
    unsigned calls;
    struct xfer_call call[PROGRAM_CALLS_MAX]; /* seq is not used */
    uint64_t compute_ns;                      /* at most, before each call */
    uint64_t call_timeout_ns, join_timeout_ns;
    /* how often a rank that failed opens the job anew, and starts from the first call, plus one */
    unsigned lives;
    struct {
        enum program_deviation kind;
        unsigned rank, call;
    } deviation;
    uint8_t *expected[PROGRAM_CALLS_MAX]; /* sums in rank order; made when first needed */
    uint8_t *parts[PROGRAM_CALLS_MAX];    /* with a quorum: contributions by rank; made when first needed */
};

void program_fini(struct program *p);

/* The call as this rank makes it. */
struct xfer_call program_call(const struct program *p, unsigned rank, unsigned call);
/* Bytes of an element, as a contribution and as a sum; where they differ the rank's tensors are two, and
 * whole. */
static inline struct sml_element program_element(const struct xfer_call *c)
{
    return sml_element_of(agg_code(c->type, c->op));
}
static inline bool program_in_place(const struct program *p, unsigned rank, unsigned call)
{
    return (p->seed >> (rank + call) % 64 & 1) != 0;
}
/* How the rank's tensor lies in memory (scattered.h): mostly in one piece. */
static inline uint64_t program_cut(const struct program *p, unsigned rank, unsigned call)
{
    uint64_t how = (p->seed ^ UINT64_C(0x9e3779b97f4a7c15)) >> (rank * 5 + call * 3) % 48;
    return how >> 11 & 1 ? how & 0x7ff : 0;
}
/* How many calls a rank posts at once, at most: mostly one. */
enum { PROGRAM_TOGETHER_MAX = 4 };
static inline unsigned program_together(const struct program *p, unsigned rank)
{
    const bool one = p->quorum != 0 || p->patience_ns > 0;
    return one || (p->seed * UINT64_C(0x9e3779b97f4a7c15) >> (rank % 32) & 3) != 3 ? 1 : PROGRAM_TOGETHER_MAX;
}
static inline bool program_wants(const struct xfer_call *call, unsigned rank)
{
    return call->collective == XFER_ALLREDUCE || call->root == rank;
}
static inline bool program_buffers(const struct program *p, unsigned rank)
{
    return (p->buffers >> rank % 64 & 1) != 0;
}
static inline bool program_has_nic(const struct program *p, unsigned rank)
{
    return (p->nics >> rank % 64 & 1) != 0;
}
/* The ranks make different calls here, so none may come to an end. */
bool program_has_mismatch(const struct program *p, unsigned call);

/* Whether all ranks call the same up to this call, so that chunks of the same tag are of the same elements.
 */
bool program_is_agreed(const struct program *p, unsigned call);

/* How many ranks a sum needs. */
static inline unsigned program_needs(const struct program *p)
{
    return p->quorum != 0 ? p->quorum : p->size;
}

uint64_t program_compute(const struct program *p, unsigned rank, unsigned call);

/* The rank's contribution, count elements of the call's type. */
void program_fill(const struct program *p, unsigned rank, unsigned call, uint8_t *tensor);

/* Writes these bytes of the sums of a call that looks up, in the place of some that a rank has left. */
void program_supply(const struct program *p, unsigned call, uint64_t offset, size_t bytes, uint8_t *sums);

/* Whether this is the result: to the bit where the order is known or does not matter. Where it does, all that
 * can be known here is that it is the same on all ranks (oracle.h). */
bool program_check(struct program *p, unsigned call, const uint8_t *tensor);

/* The same of n elements, from this one on, whose sums are of these ranks (a map as it travels, which names
 * some). */
bool program_check_some(struct program *p, unsigned call, uint64_t from, uint64_t n, const uint8_t *names,
                        const uint8_t *sums);
