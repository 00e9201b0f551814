/* How the ranks of one host sum tensors in memory that they share, and that any of them may leave at any
 * instruction.
 *
 * A call goes block by block. Each rank copies its block into its area of the memory, but for what it adds
 * itself; some of them, the *adders*, sum a share of the block over all ranks, in their order; where the job
 * has other hosts, an adder's rail sums that share over the hosts, while the ranks copy the next block in,
 * and the adder adds that up, too, and hands it to its rail; then each rank that is to have the sum copies it
 * out. A call that is small on a job's only host is shorter: each rank copies its tensor in, and adds up all
 * of them itself.
 *
 * Steps. Each rank has two counters on the board, in and summed: the number of the first block that it has
 * not copied in, and of the first whose share it has not made. Both only grow, modulo 2^32, are stored with
 * release, and are awaited with acquire by whoever goes on from there. No other order is needed:
 *
 *   - areas and results have two places, for even and odd blocks;
 *   - an adder of block b has seen in > b of all ranks, and a rank copies b in once it has done with b - 1,
 *     or, within one call, once it has copied b - 1 in and done with b - 2. So nobody reads the results of
 *     b - 2 any more, in whose place those of b come, while the rails may still sum b - 1;
 *   - a rank copies b in once all adders have made their share of b - 2 (it has copied that out), or has seen
 *     in > b - 1 of all ranks, which then have done with b - 2: nobody reads its area of b - 2 any more.
 *
 * The first step of a call carries what was called, and its place among all of the job's calls: whoever goes
 * on compares it with its own call. Hosts that call different things may have the same shares of it, so a
 * rail's call has a label of the whole one.
 *
 * Calls that go another way, *aside*, meet none of these steps, and one that was made in the place of another
 * rank's call of the board would be awaited there in vain. So each rank shows on the board which call it has
 * made aside last, and who waits looks at that (local_strays).
 *
 * Faults. The first rank that cannot go on writes why beside its counters and stores its number in the
 * board's fault, once and for all: everybody sees it at its next step. A rank that has left or died says so
 * no more: that its step is awaited by others in vain, the caller finds out (by the seat's state; by whether
 * the process lives), and raises a fault about it.
 *
 * Nothing on the board is trusted to be in range: counters are compared, texts are bounded, lengths and
 * places are each rank's own. Pure: no clock, no system calls. A rank's struct local_member is one thread's
 * at a time; of the board, each word has one writer but for fault and sleepers.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>

#include "kernels/kernels.h"
#include "local/plan.h"
#include "transfer/segments.h"
#include "wire/control.h"
#include "wire/transfer.h"

/* A word that one rank stores and others sleep on. */
struct local_word {
    _Atomic uint32_t value;
    _Atomic uint32_t
        sleepers; /* who sleeps until it changes; more than there are, if one died in its sleep */
};

/* Why the ranks of a host cannot go on. */
struct local_fault {
    int32_t status;                     /* the caller's; not 0 */
    uint16_t reason;                    /* enum ctl_reason */
    alignas(4) char text[CTL_TEXT_MAX]; /* which names whom it is about */
};

/* A call as the others of the host are to see it. */
struct local_order {
    uint64_t count;
    uint32_t seq, root;
    uint8_t collective, type, op;
};

/* The last call of a rank's that goes aside. It may be made at any time, also while one of the board is in
 * progress: who reads it compares place before and after. */
struct local_aside {
    _Atomic uint64_t place; /* above 32 bits: so many went aside, this one included; in these: so many calls
                               of the board were made before it. 0: there is none, or it is being written */
    _Atomic uint64_t count; /* as of struct local_order */
    _Atomic uint32_t root;
    _Atomic uint8_t collective, type, op;
};

enum local_state { LOCAL_AWAITED = 0, LOCAL_SEATED, LOCAL_LEFT };

/* What one rank stores, and all read. */
struct local_seat {
    alignas(64) struct local_word in;
    struct local_order order[2]; /* of an even, an odd block */
    alignas(64) struct local_word summed;
    struct local_word state; /* enum local_state */
    struct local_aside aside;
    alignas(64) struct local_fault fault; /* read by others once the board's has this rank's number */
};

/* Whether all ranks that there will be have their seats. */
enum local_opening { LOCAL_CLOSED = 0, LOCAL_OPEN, LOCAL_GIVEN_UP };

struct local_board {
    alignas(64) struct local_word open; /* enum local_opening */
    struct local_word fault;            /* a local rank, plus 1: see its seat; 0: all is well */
    uint64_t id;                        /* whose memory it is; not 0 */
    struct local_seat seats[];
};

/* The usual bytes of a block; how long a call may be, and no longer than a block, that each rank adds up
 * itself, or that goes by one rail. */
enum { LOCAL_BLOCK_BYTES = 1 << 19, LOCAL_SMALL_BYTES = 1 << 13 };

/* Bytes of the memory for so many ranks of a host, with blocks of so many bytes, a multiple of 4096. All zero
 * is how it begins, but for id. */
size_t local_board_bytes(unsigned locals, size_t block_bytes);
/* Of these, those that all ranks read and write before any call: up to the areas. */
size_t local_board_head(unsigned locals);

/* One rank of a host, with its call in progress. */
struct local_member {
    const struct local_plan *plan;
    struct local_board *board;
    const struct agg_kernels *kernels;
    uint16_t host, me, locals;       /* me: the local rank */
    uint16_t rank_of[CTL_RANKS_MAX]; /* the job's, of each local one */
    size_t block_bytes;
    const void *areas[CTL_RANKS_MAX]; /* room for the kernels' arguments */
    uint32_t block;                   /* the running number of the call's first, or the next call's */
    uint32_t calls;                   /* of the board, that this rank has begun */
    uint32_t asides;                  /* calls that it has made aside; of whoever makes these */
    /* The call in progress. */
    struct xfer_call call;
    const struct xfer_segment *segments;
    size_t segment_count, element;
    uint64_t bytes, blocks;
    uint64_t index; /* of the block at hand */
    uint64_t added; /* an adder's: the first block whose share it has not added; its rail has those before */
    bool takes;     /* this rank is to have the sum */
    bool small;     /* each rank adds up all of it itself */
    uint8_t phase;
    uint16_t adders;
    uint16_t next; /* the local rank whose step is awaited next */
    uint8_t code;  /* by which the kernels add, ... */
    bool swapped;  /* ... where they want the order of the wire */
    bool divides;  /* a sum is to be divided in the end */
};

/* rank: this one. The plan, the board's memory (local_board_bytes, 64-byte aligned) and the kernels are used
 * for as long as the member is. */
void local_member_init(struct local_member *m, const struct local_plan *plan, unsigned rank,
                       struct local_board *board, size_t block_bytes, const struct agg_kernels *kernels);

/* Begins a call, which has been checked; its seq counts all calls that the rank has made, those aside
 * included. The segments are measured, and used until the call is over. */
void local_begin(struct local_member *m, const struct xfer_call *call, const struct xfer_segment segments[],
                 size_t n);

enum local_next {
    LOCAL_ON,       /* call local_go again */
    LOCAL_WAIT,     /* sleep until the word changes */
    LOCAL_RAIL,     /* begin to sum a share over the hosts, then call local_go again */
    LOCAL_RAILING,  /* wait for the oldest share that is being summed, then call local_railed; or, once the
                       word has changed, local_go */
    LOCAL_DONE,     /* the call is over */
    LOCAL_MISMATCH, /* another rank has called something else */
    LOCAL_GONE,     /* another rank has left, which is awaited */
    LOCAL_FAULT,    /* some rank has raised a fault */
};

struct local_step {
    struct local_word *wake; /* its sleepers are to be woken; NULL: nobody is */
    struct local_word *word; /* LOCAL_WAIT: sleep as long as it has this value; LOCAL_RAILING: may be NULL */
    uint32_t value;
    bool sums;     /* LOCAL_WAIT: what is awaited is the other's share, not its block */
    uint16_t rank; /* LOCAL_WAIT, MISMATCH, GONE: the job's, who is awaited or has left or called that */
    struct xfer_call call; /* LOCAL_MISMATCH: theirs. LOCAL_RAIL: to be made, whose root is a host */
    void *elements;        /* LOCAL_RAIL: where they are, and their sums are to be */
};

/* Does the next piece of work, which is one copy or one sum, and says how to go on. */
enum local_next local_go(struct local_member *m, struct local_step *step);

/* The oldest share that is being summed over the hosts is; of two at most. */
void local_railed(struct local_member *m);

/* A call is made that goes aside; its seq counts as that of the others. Beside the thread that has the member
 * for the other functions. Who sleeps on a word of this rank's seat may be woken to see it. */
void local_pass(struct local_member *m, const struct xfer_call *call);

/* Whether another rank has made a call aside before this one, which was made before that one here: the two
 * wait for one another. Who it is, and its call, are in *step. For a call that waits. */
bool local_strays(const struct local_member *m, struct local_step *step);

/* Up to which byte the next step reads the call's tensor, 0: none of it; up to which one it has its sum. */
uint64_t local_reads(const struct local_member *m);
uint64_t local_given(const struct local_member *m);

/* The ranks, the job's, whose step the call is waiting for. */
struct ctl_ranks local_awaited(const struct local_member *m);

/* Takes the seat, or leaves it: returns the word whose sleepers are to be woken. */
struct local_word *local_sit(struct local_member *m, enum local_state state);

/* Raises a fault, unless there is one. Whoever sleeps on any word of any seat is to be woken. */
void local_raise(struct local_member *m, const struct local_fault *fault);

/* The fault that there is, its text bounded and printable. False: all is well. */
bool local_faulted(const struct local_member *m, struct local_fault *fault);
