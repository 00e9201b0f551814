/* The worker's side of the SwitchML slot protocol ("Scaling Distributed Machine Learning with In-Network
 * Aggregation", NSDI 2021, section 4.5, algorithm 4): streams one collective after the other through a job's
 * slots.
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
#ifndef SWAGG_CORE_SWITCHML_STREAM_H
#define SWAGG_CORE_SWITCHML_STREAM_H

#include "kernels/kernels.h"
#include "switchml/blocks.h"
#include "switchml/elements.h"
#include "switchml/turnout.h"
#include "wire/auth.h"

struct sml_stream;

struct sml_stream_config {
    uint16_t rank, workers;
    uint16_t slots;       /* as agreed at join, a power of two */
    uint16_t chunk_bytes; /* as agreed at join */
    uint8_t job;
    enum sml_checksum checksum;
    const struct keys_shared *shared; /* SML_CHECKSUM_KEYED: the job's secret. Read by init only */
    enum sml_format format;
    bool plain;      /* the switch knows DATA of the published sizes only: it is asked nothing, and cannot be
                        resumed */
    uint8_t look_up; /* typed: the code of the job's table (elements.h); 0: it has none */
    bool quorum;     /* typed: results may lack ranks, and name those that are in them */
    uint32_t first_tag;
    /* A reduce whose sum this rank does not want is DONE as soon as the stream has copies of everything that
     * the switch has not acknowledged, instead of when it is complete. Takes twice the memory for kept
     * chunks. */
    bool buffer_reduces;
    bool may_leave;      /* typed: sml_stream_leave may be called. As much memory as that takes */
    uint16_t window_max; /* chunks in flight, at most; 0 = half of the slots */
    uint64_t rto_min_ns, rto_max_ns, rto_first_ns; /* as of sml_rtt_init */
    const struct agg_kernels *kernels;
};

size_t sml_stream_footprint(const struct sml_stream_config *cfg); /* 0: out of range */
struct sml_stream *sml_stream_init(void *mem, const struct sml_stream_config *cfg);

/* REJECTED is not final: sml_stream_resume ends it, and so does any other answer, if the REJECT was a late
 * one. Until then only a rare probe is sent, and the tensors stay in use. */
enum sml_stream_status {
    SML_STREAM_RUNNING = 1, /* in progress */
    SML_STREAM_DONE = 0, /* no collective in progress; all have succeeded, except those that are buffered */
    SML_STREAM_MISMATCH = -1, /* sml_stream_mismatch tells; only a new job helps */
    SML_STREAM_REJECTED = -2  /* the switch does not know us (any more); see below */
};

/* Begins a collective, behind those that are buffered. call.seq is filled in here. in: call.count elements,
 * host order. out: the same, or NULL when this rank is not the root of a reduce; out may equal in, and must
 * not overlap it otherwise. Of a call that looks up (elements.h): indices and sums, which must not overlap.
 * Both stay the caller's and must live, in unchanged, until the status is DONE or MISMATCH or the stream is
 * given up; on an error out is unspecified. Returns 0, -EBUSY (one is in progress), -EINVAL (type, op, root,
 * NULL), -EOVERFLOW (more than 2^31 chunks). */
int sml_stream_begin(struct sml_stream *s, const struct sml_call *call, const void *in, void *out,
                     uint64_t now);

/* The same for a tensor that lies in n pieces, or in one if the call looks up. The array, too, stays the
 * caller's and must live, unchanged, for so long. call.count is the sum of theirs, filled in here. No out may
 * overlap another segment's in or out. n may be 0. */
int sml_stream_begin_segments(struct sml_stream *s, const struct sml_call *call,
                              struct sml_segment segments[], size_t n, uint64_t now);

/* In a job with a quorum. Of the collective in progress, or the last one: who is in the sums that this rank
 * has. It stays where it is, and is made anew by begin. */
const struct sml_turnout *sml_stream_turnout(const struct sml_stream *s);

/* The same, for the next collective to begin: has it fill in roll[], one for each of its sml_stream_packets,
 * the caller's. NULL: no more. */
void sml_stream_call_roll(struct sml_stream *s, struct sml_roll roll[]);

/* One packet to send: head, body, trailer. The body's elements lie in the caller's tensors or the stream's
 * memory, and stay valid until the next call of begin, receive or resume; so many packets may be polled and
 * then sent at once. Of numbers that have a scale the body is only made when it is asked for. */
enum { SML_HEAD_MAX = 64 }; /* room for the headers of other protocols, too, whose packets carry tensors */

struct sml_send {
    uint8_t head[SML_HEAD_MAX];
    size_t head_bytes, body_bytes;
    struct sml_pieces elements; /* of the body; not used if body_bytes is 0 */
    agg_convert_fn *convert;    /* from the host's order to that of the wire; NULL: they have a scale */
    bool swapped;               /* the two differ */
    struct sml_scale scale;
    size_t elements_bytes; /* of the body, without what follows: names; else zeros that fill a published
                              packet up */
    const uint8_t *names;  /* of the ranks in a result, body_bytes - elements_bytes of them; NULL: none */
    uint16_t rank;         /* the sender */
    enum sml_checksum checksum;
    const struct sml_auth *auth; /* SML_CHECKSUM_KEYED */
    uint32_t wraps;              /* ... of struct sml_route */
    /* What sml_send_trailer does with packets of another protocol; NULL: they are SwitchML's. */
    void (*seal)(const struct sml_send *send, const void *body, uint8_t trailer[SML_TRAILER_MAX]);
};

/* The body in wire order, of body_bytes. It is in the caller's tensor; or in the buffer, which must have room
 * for it, if elements must be converted or gathered first. */
const void *sml_send_body(const struct sml_send *send, void *buffer);

/* The trailer, of sml_trailer_bytes(send->checksum); body: as it travels. */
void sml_send_trailer(const struct sml_send *send, const void *body, uint8_t trailer[SML_TRAILER_MAX]);

/* The whole packet, one after the other; returns its length. */
size_t sml_send_copy(const struct sml_send *send, uint8_t *payload);

/* The next packet that should leave now; false: none for now (see sml_stream_timer). Call until false. */
bool sml_stream_poll(struct sml_stream *s, uint64_t now, struct sml_send *send);

/* Takes a packet from the switch (a whole UDP payload, untrusted). Returns its kind, for counting. DOUBT: in
 * a keyed job somebody says, as a switch that has restarted would, that the job is not known. He cannot prove
 * it, and nothing has changed: ask the switch, by ctl_session_rejected. */
enum sml_receive { SML_RX_RESULT, SML_RX_NEWS, SML_RX_DUPLICATE, SML_RX_BAD, SML_RX_DAMAGED, SML_RX_DOUBT };
enum sml_receive sml_stream_receive(struct sml_stream *s, const uint8_t *payload, size_t bytes, uint64_t now);

/* Best effort (may_leave), for a rank that will not wait any longer. A missing stretch of the sum, in bytes,
 * of the collective in progress: the first at or after chunk *from, which becomes the one behind it; false:
 * there is none. Call with *from = 0 until false. Only chunks that the switch may still be working on can be
 * missing. */
bool sml_stream_lacks(const struct sml_stream *s, uint64_t *from, uint64_t *offset, size_t *bytes);

/* Ends it without them: the tensors are the caller's, and out is unspecified where something is missing. The
 * chunks go on behind it, like those of a buffered reduce, and later collectives end without them: no other
 * rank misses anything for it, and after a restart of the switch this one, too, hands back what has come
 * meanwhile. False: more is missing than slots can keep, or the status is not RUNNING. */
bool sml_stream_leave(struct sml_stream *s);

/* Whether reduces that were DONE early are not complete yet: then the stream must still be polled and fed.
 * Its status tells if they fail (MISMATCH, REJECTED). */
bool sml_stream_buffered(const struct sml_stream *s);

/* Chunks that this rank is not done with, of buffered collectives and of the one in progress. */
uint64_t sml_stream_left(const struct sml_stream *s);

/* Collectives that are complete, not only buffered, for this rank; modulo 2^32. */
uint32_t sml_stream_completed(const struct sml_stream *s);

/* The collective that the oldest chunk which this rank is not done with belongs to; NULL if there is none. */
const struct sml_call *sml_stream_oldest_call(const struct sml_stream *s);

/* How many packets a call takes, which this stream can begin. */
uint64_t sml_stream_packets(const struct sml_stream *s, const struct sml_call *call);

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
int sml_stream_resume(struct sml_stream *s, uint8_t job, uint32_t first_tag, const struct keys_shared *shared,
                      uint64_t now);

/* When to poll next if nothing arrives; UINT64_MAX: nothing is outstanding. */
uint64_t sml_stream_timer(const struct sml_stream *s);

/* How long results may be left in the socket from now on, in ns, without slowing the stream down: a small
 * part of the round trip while many chunks are in flight and results keep coming, else 0. A caller that rests
 * so long is not woken for each packet. */
uint64_t sml_stream_rest(const struct sml_stream *s, uint64_t now);

enum sml_stream_status sml_stream_status(const struct sml_stream *s);
const struct sml_mismatch *sml_stream_mismatch(const struct sml_stream *s);

/* When the stream last made progress (a new result, or begin). */
uint64_t sml_stream_progress(const struct sml_stream *s);

/* Fills in the ranks (at most max) that, by the switch's last WAIT, had not contributed to this stream's
 * oldest chunk that the switch, in its present life, has not completed, and returns their number; 0: not
 * known (no answer yet). */
unsigned sml_stream_missing(const struct sml_stream *s, uint16_t ranks[], unsigned max);

/* Running totals since init. */
struct sml_stream_stats {
    uint64_t sent, retransmitted, probes, results, duplicates, bad, timeouts;
    /* chunks that were copied, because others may still ask for them when their call has ended */
    uint64_t kept;
    uint64_t damaged; /* the agreed checksum was missing or wrong, or there was one though none was agreed; in
                         a keyed job: unproven, forged or damaged */
    uint64_t srtt_ns, rttvar_ns, rto_ns;
    uint32_t window;
    /* times that the timer has expired since the switch, or the server, was last heard */
    unsigned unanswered;
};
void sml_stream_stats(const struct sml_stream *s, struct sml_stream_stats *out);

#endif
