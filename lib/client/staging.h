/* How tensors in a GPU's memory (gpu.h) are summed: a call whose tensors, or some of them, are there has room
 * for these in pinned memory of the host, and goes on from there as any other. So what is on the wire, and
 * the bits of the sums, do not depend on where a rank has its tensors; each rank may have them elsewhere.
 *
 * Copies from a GPU begin when a call is made, behind an event of the program's if it gives one. A call that
 * flows begins at once. Its tensor comes piece by piece, in turn from what each of several places sums (as
 * far as these are even): switches, and of each of these a rank's threads. What has come may leave, and what
 * is summed is copied back while the rest is under way. Each place has a driver. Any other begins when the
 * whole tensor is there, and the whole result is copied back when its end is told.
 * SWAGG_OK, or SWAGG_ERR_SYSTEM with the last error. */
#pragma once

#include "gpu.h"
#include "transfer/segments.h"

struct staging;

enum { STAGING_PIECE = 1 << 20 }; /* bytes; what is no longer than that does not flow */

/* What there is to know of a call. */
struct staging_call {
    size_t element; /* bytes of one */
    bool apart;     /* in is read when out has the result already */
    unsigned flows; /* it may, for so many places; 0: it may not */
    void *ready;    /* the program's event; NULL: all is done that writes or reads its buffers */
    bool waits;     /* the whole tensor of one that does not flow is to be there at once */
};

/* Puts room of the host's in the place of those buffers of a call's segments that are a GPU's, and begins to
 * copy. *out: NULL, there are none; else to be freed, also after an error. */
int staging_begin(struct gpu *g, struct xfer_segment segments[], size_t n, const struct staging_call *call,
                  struct staging **out);

/* Of a call whose tensors are staged, or not (NULL): whether it flows, and by which address its tensor is
 * known to the program (NULL: that of its segments). */
bool staging_flows(const struct staging *s);
const void *staging_where(const struct staging *s);

/* Bytes of a tensor. */
struct staging_span {
    uint64_t from, to; /* UINT64_MAX: to its end */
};

/* Looks what has come; 1: all. By a driver; and then, up to which byte the tensor is there from this one on.
 */
int staging_come(struct staging *s);
uint64_t staging_there(struct staging *s, uint64_t from);

/* So much of the result is there, of these n places from this one on, which lie behind each other. By their
 * driver, of one that flows. */
int staging_leave(struct staging *s, unsigned place, const struct staging_span there[], unsigned n);

/* The end is told: copies what is left to copy, if the call ended well, and waits for all copies. */
int staging_end(struct staging *s, bool well);

/* Gives back what it has. Waits for copies, if nobody has: of a job that is closed. */
void staging_free(struct staging *s);

/* memmove where either, or both, may be a GPU's. */
int staging_move(struct gpu *g, void *to, const void *from, size_t bytes);
