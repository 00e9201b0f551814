#include "offers.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "comm.h"
#include "library.h"
#include "report.h"

static bool has_type(MPI_Datatype type)
{
    return type && type != MPI_DATATYPE_NULL;
}

/* --- sums that every rank gets, or one --- */

/* Turns a call with a derived type that has only elements of a named type into a call with these elements.
 * The MPI library refuses MPI's operations on derived types; this way such a call has the same result,
 * whether the switch or the MPI library does it. */
static void call_in_elements(struct task *t)
{
    t->elements = t->items * t->what.per_item;
    t->bytes = t->elements * t->what.element_bytes;
    if (t->call.count > 0 && t->elements <= INT_MAX) {
        t->call.type = t->what.named;
        t->call.count = (int)t->elements;
    }
}

static enum why describe_reduction(struct task *t)
{
    t->items = t->call.count > 0 ? (size_t)t->call.count : 0;
    t->mpi_bytes = blocks_size(t->items, t->call.type);
    const enum why why = types_reduction(t->call.type, t->call.op, &t->what);
    if (t->what.named != MPI_DATATYPE_NULL)
        call_in_elements(t);
    if (why)
        return why;
    return t->call.count >= 0 && t->elements == 0 ? WHY_EMPTY : WHY_NOT;
}

bool offers_receives(const struct collective *c)
{
    int rank;
    if (c->offered != OFFERED_Reduce)
        return true;
    PMPI_Comm_rank(c->comm, &rank);
    return rank == c->root;
}

bool offers_has_one_buffer(const struct collective *c)
{
    return c->op != MPI_OP_NULL && c->send == c->recv && c->send && offers_receives(c);
}

/* With some of these a sum would be possible, but not on all ranks. What the MPI library takes here is not
 * wrong: the other ranks' part of the call waits for this one. */
static bool is_wrong_reduction(const struct collective *c, int rank, int size)
{
    const bool to_one = c->offered == OFFERED_Reduce, receives = !to_one || rank == c->root;
    if (c->count < 0 ||
        (to_one && (c->root < 0 || c->root >= size || (c->send == MPI_IN_PLACE && !receives))))
        return true;
    return (receives && c->recv == MPI_IN_PLACE) ||
           (offers_has_one_buffer(c) && !library_takes_one_buffer(c->offered, c->count));
}

static const void *input_of(const struct collective *c)
{
    return c->send == MPI_IN_PLACE ? c->recv : c->send;
}

static int begin_allreduce(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    const struct collective *c = &t->call;
    const void *send = input_of(c);
    return posted
               ? swagg_post_allreduce(job, send, c->recv, t->elements, t->what.type, t->what.op, NULL, posted)
               : swagg_allreduce(job, send, c->recv, t->elements, t->what.type, t->what.op);
}

static int begin_reduce(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    const struct collective *c = &t->call;
    const void *send = input_of(c);
    return posted ? swagg_post_reduce(job, send, c->recv, t->elements, t->what.type, t->what.op, c->root,
                                      NULL, posted)
                  : swagg_reduce(job, send, c->recv, t->elements, t->what.type, t->what.op, c->root);
}

/* --- sums of which every rank gets a block --- */

/* Of a named type only: the MPI library refuses others, and those are never handed on in another shape. */
static enum why describe_reduce_scatter(struct task *t)
{
    const struct collective *c = &t->call;
    t->items = blocks_scattered(c->counts, c->count, c->comm);
    t->mpi_bytes = blocks_size(t->items, c->type);
    const enum why why = types_reduction(c->type, c->op, &t->what);
    t->elements = t->items;
    t->bytes = t->items * t->what.element_bytes;
    if (why)
        return why;
    if (t->what.named != c->type)
        return WHY_TYPE;
    return t->bytes == 0 && c->count >= 0 ? WHY_EMPTY : WHY_NOT;
}

static bool has_less_than_nothing(const int counts[], int size)
{
    for (int r = 0; r < size; r++)
        if (counts[r] < 0)
            return true;
    return false;
}

static bool is_wrong_reduce_scatter(const struct collective *c, int rank, int size)
{
    (void)rank;
    if (c->offered == OFFERED_Reduce_scatter && (!c->counts || has_less_than_nothing(c->counts, size)))
        return true;
    return c->count < 0 || c->recv == MPI_IN_PLACE ||
           (offers_has_one_buffer(c) && !library_takes_one_buffer(c->offered, c->count));
}

static int begin_reduce_scatter(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    const struct collective *c = &t->call;
    size_t lengths[COMM_RANKS_MAX];
    for (int r = 0; r < t->size; r++)
        lengths[r] = (size_t)(c->counts ? c->counts[r] : c->count);
    if (c->send == MPI_IN_PLACE) {
        t->packed = allocate_or_abort(c->comm, t->bytes, "the input of an in-place collective");
        memcpy(t->packed, c->recv, t->bytes);
    }
    const void *send = t->packed ? t->packed : c->send;
    return posted ? swagg_post_reduce_scatter(job, send, c->recv, lengths, t->what.type, t->what.op, NULL,
                                              posted)
                  : swagg_reduce_scatter(job, send, c->recv, lengths, t->what.type, t->what.op);
}

/* --- copies. They travel without gaps, as bytes: what has gaps on this rank is packed --- */

static enum why describe_copy(struct task *t, size_t items)
{
    t->items = items;
    t->bytes = t->mpi_bytes = t->elements = blocks_size(items, t->call.type);
    if (t->bytes > INT_MAX) /* of MPI_Pack */
        return WHY_LARGE;
    return t->bytes == 0 && t->call.count >= 0 ? WHY_EMPTY : WHY_NOT;
}

static enum why describe_bcast(struct task *t)
{
    return describe_copy(t, t->call.count > 0 ? (size_t)t->call.count : 0);
}

static enum why describe_allgather(struct task *t)
{
    const struct collective *c = &t->call;
    return describe_copy(t, c->counts ? blocks_total(c->counts, c->comm) : blocks_alike(c->count, c->comm));
}

static bool is_nowhere(const void *buffer, MPI_Datatype type)
{
    return !buffer && types_are_bytes(type); /* others may have addresses of their own */
}

static bool is_wrong_bcast(const struct collective *c, int rank, int size)
{
    (void)rank;
    return c->count < 0 || !has_type(c->type) || c->root < 0 || c->root >= size || c->recv == MPI_IN_PLACE ||
           is_nowhere(c->recv, c->type);
}

/* MPICH packs nothing at MPI_BOTTOM, which is NULL. So many items there are one of another type here, which
 * is as far away from them. */
static char here;

static MPI_Datatype seen_from_here(int count, MPI_Datatype type)
{
    MPI_Aint address, away;
    MPI_Datatype seen;
    PMPI_Get_address(&here, &address);
    away = -address;
    PMPI_Type_create_hindexed(1, &count, &away, type, &seen);
    PMPI_Type_commit(&seen);
    return seen;
}

/* Nothing is packed, to see whether it might be: a type that is not committed may not. */
static int check_type(MPI_Datatype type, MPI_Comm comm)
{
    char nothing;
    int at = 0;
    return types_are_bytes(type) ? MPI_SUCCESS : PMPI_Pack(&nothing, 0, type, &nothing, 0, &at, comm);
}

int offers_check_types(const struct collective *c)
{
    if (c->op != MPI_OP_NULL || c->type == MPI_DATATYPE_NULL)
        return MPI_SUCCESS;
    const int rc = check_type(c->type, c->comm);
    return rc == MPI_SUCCESS && collective_has_send_type(c) ? check_type(c->send_type, c->comm) : rc;
}

/* Whose error handler hears of it: what is wrong with a type shows when it is packed. */
static MPI_Comm teller_of(const struct task *t)
{
    return t->call.request ? MPI_COMM_SELF : t->call.comm;
}

static void pack(struct task *t, const void *from, int count, MPI_Datatype type, void *to)
{
    const int room = (int)blocks_size((size_t)count, type);
    int at = 0;
    if (from) {
        t->refused = PMPI_Pack(from, count, type, to, room, &at, teller_of(t));
        return;
    }
    MPI_Datatype seen = seen_from_here(count, type);
    t->refused = PMPI_Pack(&here, 1, seen, to, room, &at, teller_of(t));
    PMPI_Type_free(&seen);
}

static void unpack(struct task *t, const void *from, void *to, int count)
{
    const MPI_Datatype type = t->call.type;
    const int length = (int)blocks_size((size_t)count, type);
    int at = 0;
    if (to) {
        t->refused = PMPI_Unpack(from, length, &at, to, count, type, teller_of(t));
        return;
    }
    MPI_Datatype seen = seen_from_here(count, type);
    t->refused = PMPI_Unpack(from, length, &at, &here, 1, seen, teller_of(t));
    PMPI_Type_free(&seen);
}

static int begin_bcast(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    const struct collective *c = &t->call;
    if (!types_are_bytes(c->type))
        t->packed = allocate_or_abort(c->comm, t->bytes, "packed elements");
    if (t->packed && t->rank == c->root)
        pack(t, c->recv, c->count, c->type, t->packed);
    if (t->refused != MPI_SUCCESS)
        return SWAGG_ERR_ARGUMENT;
    void *buffer = t->packed ? t->packed : c->recv;
    return posted ? swagg_post_broadcast(job, buffer, t->bytes, c->root, NULL, posted)
                  : swagg_broadcast(job, buffer, t->bytes, c->root);
}

static void unpack_bcast(struct task *t)
{
    if (t->packed && t->rank != t->call.root)
        unpack(t, t->packed, t->call.recv, t->call.count);
}

static int count_of(const struct collective *c, int rank)
{
    return c->counts ? c->counts[rank] : c->count;
}

/* In units of the type's extent. */
static MPI_Aint place_of(const struct collective *c, int rank)
{
    return c->counts ? c->places[rank] : (MPI_Aint)rank * c->count;
}

static bool is_wrong_allgather(const struct collective *c, int rank, int size)
{
    if (!has_type(c->type) || c->recv == MPI_IN_PLACE || is_nowhere(c->recv, c->type) || c->count < 0)
        return true;
    if (c->offered == OFFERED_Allgatherv &&
        (!c->counts || !c->places || has_less_than_nothing(c->counts, size)))
        return true;
    if (c->send == MPI_IN_PLACE)
        return false;
    return c->send_count < 0 || !has_type(c->send_type) ||
           (c->send_count > 0 && is_nowhere(c->send, c->send_type)) ||
           blocks_size((size_t)c->send_count, c->send_type) !=
               blocks_size((size_t)count_of(c, rank), c->type);
}

/* Where blocks are received: at `base`, in the program's buffer, or else to be unpacked from there. */
struct blocks {
    char *base;
    MPI_Aint extent;
    size_t lengths[COMM_RANKS_MAX], offsets[COMM_RANKS_MAX]; /* bytes */
};

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return extent;
}

static char *place_in_program(const struct collective *c, MPI_Aint extent, int rank)
{
    return (char *)c->recv + place_of(c, rank) * extent;
}

static void lay_out(struct task *t, struct blocks *b)
{
    const struct collective *c = &t->call;
    MPI_Aint first = INTPTR_MAX;
    size_t end = 0;
    b->extent = extent_of(c->type);
    if (!types_are_bytes(c->type))
        t->packed = allocate_or_abort(c->comm, t->bytes, "packed elements");
    for (int r = 0; r < t->size; r++)
        if (count_of(c, r) > 0 && place_of(c, r) < first)
            first = place_of(c, r);
    for (int r = 0; r < t->size; r++) {
        b->lengths[r] = blocks_size((size_t)count_of(c, r), c->type);
        b->offsets[r] = t->packed           ? end
                        : b->lengths[r] > 0 ? (size_t)((place_of(c, r) - first) * b->extent)
                                            : 0;
        end += b->lengths[r];
    }
    b->base = t->packed ? t->packed : (char *)c->recv + first * b->extent;
}

/* What this rank brings: without gaps, where it is or where it goes. */
static const void *own_block(struct task *t, const struct blocks *b)
{
    const struct collective *c = &t->call;
    char *own = b->base + b->offsets[t->rank];
    if (b->lengths[t->rank] == 0)
        return own;
    if (c->send != MPI_IN_PLACE && types_are_bytes(c->send_type))
        return c->send;
    if (c->send != MPI_IN_PLACE)
        pack(t, c->send, c->send_count, c->send_type, own);
    else if (t->packed)
        pack(t, place_in_program(c, b->extent, t->rank), count_of(c, t->rank), c->type, own);
    return own;
}

static int begin_allgather(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    struct blocks b;
    lay_out(t, &b);
    const void *own = own_block(t, &b);
    if (t->refused != MPI_SUCCESS)
        return SWAGG_ERR_ARGUMENT;
    return posted ? swagg_post_allgatherv(job, own, b.base, b.lengths, b.offsets, NULL, posted)
                  : swagg_allgatherv(job, own, b.base, b.lengths, b.offsets);
}

static void unpack_allgather(struct task *t)
{
    const struct collective *c = &t->call;
    const MPI_Aint extent = extent_of(c->type);
    size_t at = 0;
    for (int r = 0; t->packed && r < t->size && t->refused == MPI_SUCCESS; r++) {
        const size_t length = blocks_size((size_t)count_of(c, r), c->type);
        if (length > 0)
            unpack(t, t->packed + at, place_in_program(c, extent, r), count_of(c, r));
        at += length;
    }
}

/* --- nothing but an end that all wait for --- */

static enum why describe_barrier(struct task *t)
{
    t->items = t->mpi_bytes = t->elements = t->bytes = 0;
    return WHY_NOT;
}

static bool is_wrong_barrier(const struct collective *c, int rank, int size)
{
    (void)c, (void)rank, (void)size;
    return false;
}

static int begin_barrier(struct task *t, struct swagg_job *job, struct swagg_request **posted)
{
    (void)t;
    return posted ? swagg_post_barrier(job, NULL, posted) : swagg_barrier(job);
}

void offers_end(struct task *t, bool well)
{
    if (well && offers[t->call.offered].unpack)
        offers[t->call.offered].unpack(t);
    free(t->packed);
    t->packed = NULL;
}

#define FUNCTION(name, ...)    "MPI_" #name,
#define WORD(name, small, ...) #small,
const char *const offered_functions[OFFERED_WAYS][OFFERED_COUNT] = {
    [BLOCKING] = {OFFERED_COLLECTIVES(FUNCTION)}, [POSTED] = {POSTED_COLLECTIVES(FUNCTION)}};
const char *const offered_words[OFFERED_WAYS][OFFERED_COUNT] = {
    [BLOCKING] = {OFFERED_COLLECTIVES(WORD)}, [POSTED] = {POSTED_COLLECTIVES(WORD)}};

const struct offer offers[OFFERED_COUNT] = {
    [OFFERED_Allreduce] = {CROSSING_ALLREDUCE, false, describe_reduction, is_wrong_reduction, begin_allreduce,
                           NULL},
    [OFFERED_Reduce] = {CROSSING_REDUCE, false, describe_reduction, is_wrong_reduction, begin_reduce, NULL},
    [OFFERED_Bcast] = {CROSSING_BCAST, true, describe_bcast, is_wrong_bcast, begin_bcast, unpack_bcast},
    [OFFERED_Allgather] = {CROSSING_ALLGATHER, true, describe_allgather, is_wrong_allgather, begin_allgather,
                           unpack_allgather},
    [OFFERED_Allgatherv] = {CROSSING_ALLGATHERV, true, describe_allgather, is_wrong_allgather,
                            begin_allgather, unpack_allgather},
    [OFFERED_Reduce_scatter] = {CROSSING_REDUCE_SCATTER, true, describe_reduce_scatter,
                                is_wrong_reduce_scatter, begin_reduce_scatter, NULL},
    [OFFERED_Reduce_scatter_block] = {CROSSING_REDUCE_SCATTER_BLOCK, true, describe_reduce_scatter,
                                      is_wrong_reduce_scatter, begin_reduce_scatter, NULL},
    [OFFERED_Barrier] = {CROSSING_BARRIER, false, describe_barrier, is_wrong_barrier, begin_barrier, NULL},
};
