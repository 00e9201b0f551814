/* The worker's side of the SwitchML slot protocol ("Scaling Distributed Machine Learning with In-Network
 * Aggregation", NSDI 2021, section 4.5, algorithm 4): streams collectives, one behind the other, through a
 * job's slots. Several may be in progress: the chunks of one follow those of the one before it at once.
 *
 * Chunks are numbered through the job's life (the tag); chunk `tag` may be sent once chunk tag - slots has
 * its result. How many are in flight at once is decided by a window (window.h), from measured round trips, at
 * most the number of slots; so a chunk held up by a loss does not hold up its neighbours. Losses are noticed
 * by a timer with variance and back-off (rtt.h), or earlier, when chunks sent later have completed: then a
 * PROBE of ten bytes asks the switch, which answers with the result, with NACK (send it again) or with WAIT
 * (and who is missing). Of chunks lost in a row, behind which nothing comes, the timer finds the first; the
 * others are asked for by and by as answers come, in a few round trips.
 *
 * The stream reads no clock: `now` is in nanoseconds, monotonic, the caller's. Memory is the caller's
 * (sml_stream_footprint, 64-byte aligned). One thread at a time. No output, no globals.
 */
#pragma once

#include "kernels/kernels.h"
#include "switchml/elements.h"
#include "transfer/stream.h"
#include "transfer/turnout.h"
#include "wire/switchml.h"

struct sml_stream;

struct sml_stream_config {
    uint16_t rank, workers;
    uint16_t slots;       /* as agreed at join, a power of two */
    uint16_t chunk_bytes; /* as agreed at join */
    uint8_t job;
    enum xfer_checksum checksum;
    const struct keys_secret *shared; /* XFER_CHECKSUM_KEYED: the job's secret. Read by init only */
    enum xfer_format format;
    bool plain;      /* the switch knows DATA of the published sizes only: it is asked nothing, and cannot be
                        resumed */
    uint8_t look_up; /* typed: the code of the job's table (elements.h); 0: it has none */
    /* The stream sums the place-th part of every call's elements, of so many; places 0: all of them. Those of
     * all places are given the same tensors. */
    uint8_t place, places;
    bool quorum;      /* typed: results may lack ranks, and name those that are in them */
    bool empties;     /* typed: contributions may have no elements, so there are the calls of parts.h */
    bool interleaved; /* ... whose chunks leave as xfer_interleaved says */
    uint32_t first_tag;
    /* A reduce whose sum this rank does not want is DONE as soon as the stream has copies of everything that
     * the switch has not acknowledged, instead of when it is complete. Takes twice the memory for kept
     * chunks. */
    bool buffer_reduces;
    bool may_leave;      /* typed: sml_stream_leave may be called. As much memory as that takes */
    uint16_t calls;      /* collectives in progress, at most: as xfer_queue_room */
    uint16_t window_max; /* chunks in flight, at most; 0 = half of the slots */
    uint64_t rto_min_ns, rto_max_ns, rto_first_ns; /* as of xfer_rtt_init */
    const struct agg_kernels *kernels;
};

size_t sml_stream_footprint(const struct sml_stream_config *cfg); /* 0: out of range */
struct sml_stream *sml_stream_init(void *mem, const struct sml_stream_config *cfg);

/* Begins a collective, behind those in progress and those that are buffered. call.seq is filled in here: they
 * count from 0. in: call.count elements, host order. out: the same, or NULL when this rank is not the root of
 * a reduce; out may equal in, and must not overlap it otherwise, nor what belongs to another collective in
 * progress. Of a call that looks up (elements.h): indices and sums, which must not overlap. Both stay the
 * caller's and must live, in unchanged, until it has ended (sml_stream_ended), the status is MISMATCH, or the
 * stream is given up; on an error out is unspecified. Returns 0, -EBUSY (as many are in progress as there may
 * be), -EINVAL (type, op, root, NULL), -EOVERFLOW (more than 2^31 chunks). */
int sml_stream_begin(struct sml_stream *s, const struct xfer_call *call, const void *in, void *out,
                     uint64_t now);

/* The same for a tensor that lies in n pieces, or in one if the call looks up. The array, too, stays the
 * caller's and must live, unchanged, for so long. call.count is the sum of theirs, filled in here. No out may
 * overlap another segment's in or out. n may be 0. */
int sml_stream_begin_segments(struct sml_stream *s, const struct xfer_call *call,
                              struct xfer_segment segments[], size_t n, uint64_t now);

/* Of several places: this one sums the elements of calls that begin from now on from one fraction of them up
 * to another, in parts of SML_SHARE_WHOLE; the next place begins where it ends. On all ranks alike. Without
 * this all places sum as many. */
enum { SML_SHARE_WHOLE = 1 << 16 };
void sml_stream_share(struct sml_stream *s, uint32_t from, uint32_t to);

/* Calls of parts.h: in and out are NULL in segments of which this rank brings, or gets, nothing. All that a
 * rank gets of a call of bytes has an out, and so has what it brings besides; call.type and op are those of
 * xfer_copies. Where the owner adds (xfer_owner_adds), out lacks its own elements of whole chunks. */

/* For a caller whose contribution is not all there yet when its collective begins, and who takes its sum as
 * it comes; without a quorum and without may_leave. hold: of the collective with this number only what the
 * elements before this one bring may leave, nor anything behind it, until it says more; UINT64_MAX: all. What
 * may leave does not change any more. arrived: the elements from *from, the first that this place sums, up to
 * this one have their sums, and out has them; UINT64_MAX: all up to the end. */
void sml_stream_hold(struct sml_stream *s, uint32_t number, uint64_t elements);
uint64_t sml_stream_arrived(const struct sml_stream *s, uint32_t number, uint64_t *from);

/* In a job with a quorum. Of the collective with this number: who is in the sums that this rank has. It stays
 * where it is until as many more have begun as may be in progress. */
const struct xfer_turnout *sml_stream_turnout(const struct sml_stream *s, uint32_t number);

/* The same, for those that begin from now on: has each fill in roll[], one for each of its
 * sml_stream_packets, the caller's. NULL: none. */
void sml_stream_call_roll(struct sml_stream *s, struct xfer_roll roll[]);

/* The next packet that should leave now; false: none for now (see sml_stream_timer). Call until false. */
bool sml_stream_poll(struct sml_stream *s, uint64_t now, struct xfer_send *send);

/* Takes a packet from the switch (a whole UDP payload, untrusted). Returns its kind, for counting. DOUBT: see
 * enum xfer_receive. */
enum xfer_receive sml_stream_receive(struct sml_stream *s, const uint8_t *payload, size_t bytes,
                                     uint64_t now);

/* Best effort (may_leave), for a rank that will not wait any longer. A missing stretch of the sum, in bytes,
 * of the oldest collective in progress: the first at or after chunk *from, which becomes the one behind it;
 * false: there is none. Call with *from = 0 until false. Only chunks that the switch may still be working on
 * can be missing. */
bool sml_stream_lacks(const struct sml_stream *s, uint64_t *from, uint64_t *offset, size_t *bytes);

/* Ends it without them: the tensors are the caller's, and out is unspecified where something is missing. The
 * chunks go on behind it, like those of a buffered reduce, and later collectives end without them: no other
 * rank misses anything for it, and after a restart of the switch this one, too, hands back what has come
 * meanwhile. False: more is missing than slots can keep, or the status is not RUNNING. */
bool sml_stream_leave(struct sml_stream *s);

/* Whether reduces that were DONE early are not complete yet: then the stream must still be polled and fed.
 * Its status tells if they fail (MISMATCH, REJECTED). */
bool sml_stream_buffered(const struct sml_stream *s);

/* Chunks that this rank is not done with, of buffered collectives and of those in progress. */
uint64_t sml_stream_left(const struct sml_stream *s);

/* Collectives that have ended, whose tensors are the caller's again; modulo 2^32. They end in the order in
 * which they began. */
uint32_t sml_stream_ended(const struct sml_stream *s);

/* Collectives that are complete, not only buffered, for this rank; modulo 2^32. */
uint32_t sml_stream_completed(const struct sml_stream *s);

/* The collective that the oldest chunk which this rank is not done with belongs to; NULL if there is none. */
const struct xfer_call *sml_stream_oldest_call(const struct sml_stream *s);

/* How many packets a call takes, which this stream can begin. */
uint64_t sml_stream_packets(const struct sml_stream *s, const struct xfer_call *call);

/* The switch has restarted and this job has been joined anew (control/session.h). sml_stream_oldest is the
 * oldest tag whose result this rank lacks, which it tells the switch when it joins; from then on until it
 * resumes the stream must neither be polled nor fed. The switch answers with the smallest over all ranks.
 * From there on this rank hands back the results it still holds (all that some rank may lack are kept) and
 * sends its own contributions again where nobody has a result. Returns 0, or -ENODATA if first_tag lies
 * further back than what is kept, or the switch takes no results from workers: the job cannot be resumed.
 * Works between collectives too: then others may still need our results, so the stream must be polled and fed
 * until its timer says that nothing is outstanding. shared: of a keyed job, its new secret; read during the
 * call only. */
uint32_t sml_stream_oldest(const struct sml_stream *s);
int sml_stream_resume(struct sml_stream *s, uint8_t job, uint32_t first_tag, const struct keys_secret *shared,
                      uint64_t now);

/* When to poll next if nothing arrives; UINT64_MAX: nothing is outstanding. */
uint64_t sml_stream_timer(const struct sml_stream *s);

/* How long results may be left in the socket from now on, in ns, without slowing the stream down: a small
 * part of the round trip while many chunks are in flight and results keep coming, else 0. A caller that rests
 * so long is not woken for each packet. */
uint64_t sml_stream_rest(const struct sml_stream *s, uint64_t now);

enum xfer_status sml_stream_status(const struct sml_stream *s);
const struct xfer_mismatch *sml_stream_mismatch(const struct sml_stream *s);

/* When the stream last made progress (a new result, or a begin while nothing was in progress). */
uint64_t sml_stream_progress(const struct sml_stream *s);

/* Fills in the ranks (at most max) that, by the switch's last WAIT, had not contributed to this stream's
 * oldest chunk that the switch, in its present life, has not completed, and returns their number; 0: not
 * known (no answer yet). */
unsigned sml_stream_missing(const struct sml_stream *s, uint16_t ranks[], unsigned max);

void sml_stream_stats(const struct sml_stream *s, struct xfer_stats *out);
