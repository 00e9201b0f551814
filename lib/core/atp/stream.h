/* The worker's side of ATP ("ATP: In-network Aggregation Protocol for Multi-tenant Learning", section 5.4):
 * streams collectives, one behind the other, to one parameter server, and takes the sums. Several may be in
 * progress.
 *
 * Chunks are numbered through the job's life. UNA is the first that is not acknowledged, INF one past the
 * last that was sent; a chunk may be sent while it is less than the job's window ahead of UNA, and while
 * fewer than WND chunks are under way (atp/congestion.h). A chunk is asked for (ASK) once three that were
 * sent later have been acknowledged, or when nothing comes for as long as a timer with variance and back-off
 * says (transfer/rtt.h). All ranks miss its result, though one packet may be all that was lost; so only the
 * rank whose contribution the server lacks sends it again, with RESEND and DIRECT, and halves its window. (In
 * the paper all send again: with 64 workers, 64 packets for one.) A chunk that the server asks for before it
 * was sent is sent with DIRECT then: others' contributions have come there without it, and in a switch it
 * would wait for them.
 *
 * Where a job has several servers, each has a stream of its own, with its own membership, numbers and window:
 * chunk c of a collective goes to server c % servers. A stream whose server gets no chunk of a collective is
 * done with it as soon as with those before it.
 *
 * When the server has restarted, and the job was joined anew (control/session.h), it goes on from the oldest
 * chunk that some rank lacks. From there on a rank hands back the sums that it still holds (RESTORE) and
 * sends its contributions again where it holds none, or wanted none. For this it keeps, when a collective
 * ends, copies of what others may lack: each contribution says how many results its rank lacks (HELD), and
 * each result of how many the worst of them lacked, so they are few. Nobody is further than a window ahead.
 *
 * The interface is that of switchml/stream.h, and so are the rules: `now` in ns, monotonic, the caller's;
 * memory is the caller's (atp_stream_footprint, 64-byte aligned); one thread at a time; no output.
 */
#pragma once

#include "atp/terms.h"
#include "kernels/kernels.h"
#include "transfer/stream.h"

struct atp_stream;

struct atp_stream_config {
    uint16_t rank, workers;
    uint8_t job;
    struct atp_terms terms; /* granted */
    uint16_t calls;         /* in progress, at most: as xfer_queue_room */
    uint16_t fixed_window;  /* so many chunks under way, without congestion control; 0: with it */
    uint64_t rto_min_ns, rto_max_ns, rto_first_ns; /* as of xfer_rtt_init */
    const struct keys_secret *shared;              /* terms.keyed: the job's secret. Read by init only */
    const struct agg_kernels *kernels;
};

size_t atp_stream_footprint(const struct atp_stream_config *cfg); /* 0: out of range */
struct atp_stream *atp_stream_init(void *mem, const struct atp_stream_config *cfg);

/* To so many UDP ports of the server the caller deals packets by shard_key: after init and resume; 1 until
 * then. Each has a thread of its own there, so results of one may overtake those of another. */
void atp_stream_deal(struct atp_stream *s, uint8_t ports);

/* As sml_stream_begin_segments. -EINVAL also for elements that the job's format does not carry. */
int atp_stream_begin_segments(struct atp_stream *s, const struct xfer_call *call,
                              struct xfer_segment segments[], size_t n, uint64_t now);

/* As sml_stream_poll: the next packet that should leave now. */
bool atp_stream_poll(struct atp_stream *s, uint64_t now, struct xfer_send *send);

/* Takes a packet from the server (a whole UDP payload, untrusted). DAMAGED, DOUBT: as of sml_stream_receive.
 * One that came with IP's congestion mark is marked before (atp_mark). */
enum xfer_receive atp_stream_receive(struct atp_stream *s, const uint8_t *payload, size_t bytes,
                                     uint64_t now);

uint64_t atp_stream_left(const struct atp_stream *s);  /* chunks without a sum, of collectives in progress */
uint32_t atp_stream_ended(const struct atp_stream *s); /* collectives, modulo 2^32, as sml_stream_ended */
uint32_t atp_stream_completed(const struct atp_stream *s); /* the same: there are no buffered ones */
const struct xfer_call *atp_stream_oldest_call(const struct atp_stream *s); /* in progress; NULL: none is */
uint64_t atp_stream_packets(const struct atp_stream *s, const struct xfer_call *call);

/* As sml_stream_oldest and sml_stream_resume, with what the job was granted in its new life. */
uint32_t atp_stream_oldest(const struct atp_stream *s);
int atp_stream_resume(struct atp_stream *s, uint8_t job, const struct atp_terms *granted,
                      const struct keys_secret *shared, uint64_t now);

/* When to poll next if nothing arrives; UINT64_MAX: nothing is outstanding. */
uint64_t atp_stream_timer(const struct atp_stream *s);

enum xfer_status atp_stream_status(const struct atp_stream *s);
const struct xfer_mismatch *atp_stream_mismatch(const struct atp_stream *s);

/* When the stream last made progress (a new sum, or a begin while nothing was in progress). */
uint64_t atp_stream_progress(const struct atp_stream *s);

/* Fills in the ranks (at most max) that, by the server's last answer, had not contributed to this stream's
 * oldest chunk that the server, in its present life, has not completed, and returns their number; 0: not
 * known. */
unsigned atp_stream_missing(const struct atp_stream *s, uint16_t ranks[], unsigned max);

/* retransmitted: questions, too. probes: questions that a timer has caused. */
void atp_stream_stats(const struct atp_stream *s, struct xfer_stats *out);

/* What the network has told, for measurements. */
struct atp_stream_signs {
    uint64_t acknowledged, collisions, marks, halved;
};
void atp_stream_signs(const struct atp_stream *s, struct atp_stream_signs *out);
