/* A worker of host-addressed aggregation: sends arrays chunk by chunk, and takes the sums (hostagg/pool.h). A
 * state machine: packets and time go in, packets come out. Chunks of all arrays of a run are numbered on, so
 * the next array may be posted as soon as one is done.
 *
 * A chunk is asked for when it is overdue, or when the sum of a chunk that was sent later has come; it is
 * sent again when the answer says that it has not arrived. The time after which a chunk is overdue doubles
 * with each question, from ask_after_ns up to 64 times as much.
 *
 * Pure: no clock (now in ns, monotonic), no malloc. The caller's memory for flights, arrays and packets. One
 * thread at a time.
 */
#pragma once

#include "kernels/kernels.h"
#include "protocol/jobs.h"
#include "wire/hostagg.h"

/* A chunk under way. */
struct hag_flight {
    uint64_t due;   /* when it is to be sent or asked for */
    uint64_t order; /* the when-th packet this was; 0: not sent yet */
    uint8_t asked;  /* times in a row */
    bool resend;    /* the switch has no contribution to it: send it again, do not ask */
    bool done;      /* its sum is here */
};

struct hag_worker_config {
    uint8_t job;  /* as in the switch's configuration */
    uint8_t code; /* of operation and type (kernels.h) */
    uint16_t worker;
    uint16_t run;         /* the same for all workers; newer than all runs before */
    uint16_t slots;       /* of the job; a power of two. Chunks under way at once */
    uint16_t chunk_bytes; /* whole elements */
    uint64_t ask_after_ns;
    const struct agg_kernels *kernels;
};

/* All fields are the worker's own. */
struct hag_worker {
    struct hag_worker_config cfg;
    struct hag_flight *flight; /* by sequence % slots */
    const uint8_t *from;
    uint8_t *to;
    size_t bytes;
    /* chunks: the first of this array, the next that was never sent, and one past the last */
    uint32_t first, next, end;
    uint32_t oldest;        /* whose sum is not here */
    uint64_t sent;          /* packets with contributions so far */
    uint64_t asked, resent; /* for statistics */
    uint32_t differing;     /* a chunk with which another worker's disagrees; meaningful if differs */
    uint16_t differs_from;  /* that worker */
    bool differs;
    /* The switch's last answer about a chunk that waits: whose contributions are there (HAG_WAITING). */
    uint32_t answered; /* the chunk; meaningful if there_bytes > 0 */
    size_t there_bytes;
    uint8_t there[AGG_MAX_WORKERS / 8];
};

/* flight: cfg->slots of them, the caller's for the worker's life. */
void hag_worker_init(struct hag_worker *w, const struct hag_worker_config *cfg, struct hag_flight *flight);

/* Posts an array of so many bytes, whole elements, at least one, in host order; the one before is done. The
 * sum goes to `to`, which may be `from`. Both stay the caller's, and unchanged by it until the array is done.
 */
void hag_worker_post(struct hag_worker *w, const void *from, void *to, size_t bytes);

/* The next packet to be sent now, HAG_HEADER_BYTES + chunk_bytes at most; returns its length, 0: none is due.
 */
size_t hag_worker_send(struct hag_worker *w, uint64_t now, uint8_t *packet);

/* When hag_worker_send is next to be asked; UINT64_MAX: after something has been received. */
uint64_t hag_worker_wake(const struct hag_worker *w);

/* A packet from the switch. What is malformed, of another job or run, or late, changes nothing. */
void hag_worker_receive(struct hag_worker *w, const uint8_t *packet, size_t bytes, uint64_t now);

static inline bool hag_worker_is_done(const struct hag_worker *w)
{
    return w->oldest == w->end;
}

/* Whether the switch has said that the oldest chunk under way lacks this worker's contribution. */
bool hag_worker_misses(const struct hag_worker *w, uint16_t worker);
