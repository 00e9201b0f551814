/* libswagg: sums over the ranks of a job, taken in a swagg switch.
 *
 *     struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
 *     o.switch_ip = "10.0.0.254"; o.job = "train-1"; o.rank = 0; o.size = 4;
 *     struct swagg_job *job;
 *     int rc = swagg_open(&job, &o);
 *     if (rc == 0) rc = swagg_allreduce(job, grad, grad, n, SWAGG_F32, SWAGG_SUM);
 *     if (rc < 0) fprintf(stderr, "%s: %s\n", swagg_strerror(rc), swagg_last_error());
 *     swagg_close(job);
 *
 * Every rank must make the same calls in the same order. Nothing here hangs: every call returns by its
 * deadline, with the exact result or with an error whose text names what happened and which ranks are
 * missing. After an error other than SWAGG_ERR_ARGUMENT a job can only be closed; the other ranks get an
 * error, too, at the latest in their next call (with SWAGG_REDUCE_BUFFERED: in the next one that gives them a
 * sum).
 *
 * Threads: different jobs may be used by different threads at once; one job by one thread at a time. A job
 * runs one thread of its own, for heartbeats; it touches no buffer of the caller's. The library writes
 * nothing to stdout or stderr; diagnostics go to swagg_options.log.
 */
#ifndef SWAGG_H
#define SWAGG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum swagg_type {
    SWAGG_I32 = 1,
    SWAGG_I64 = 2,
    SWAGG_F32 = 3,
    SWAGG_F64 = 4,
    SWAGG_I8 = 5,
    SWAGG_I16 = 6,
    SWAGG_U8 = 7,
    SWAGG_U16 = 8,
    SWAGG_U32 = 9,
    SWAGG_U64 = 10,
    SWAGG_BOOL = 11, /* one byte: 0 is false, all else true */
    SWAGG_F16 = 12,  /* IEEE 754 binary16 */
    SWAGG_BF16 = 13, /* the upper half of an f32 */
    SWAGG_C64 = 14,  /* float complex */
    SWAGG_C128 = 15  /* double complex */
};

enum swagg_op {
    SWAGG_SUM = 1,
    SWAGG_PROD = 2,
    SWAGG_MIN = 3,
    SWAGG_MAX = 4,
    SWAGG_LAND = 5, /* logical: 1 or 0 */
    SWAGG_LOR = 6,
    SWAGG_LXOR = 7,
    SWAGG_BAND = 8, /* bitwise */
    SWAGG_BOR = 9,
    SWAGG_BXOR = 10,
    SWAGG_AVG = 11,     /* the sum, divided by the number of ranks */
    SWAGG_MINLOC = 12,  /* elements struct {type value; int32_t index}: the least value, and where it is */
    SWAGG_MAXLOC = 13,  /* the same: the greatest */
    SWAGG_MINPAIR = 14, /* elements type[2], {value, index}: the least value, and where it is */
    SWAGG_MAXPAIR = 15  /* the same: the greatest */
};

/* 0 is success, errors are negative. */
enum swagg_status {
    SWAGG_OK = 0,
    SWAGG_ERR_ARGUMENT = -1,  /* an argument or option is out of range; nothing was sent */
    SWAGG_ERR_NO_SWITCH = -2, /* no switch answered at that address, or not on its data ports */
    SWAGG_ERR_REFUSED = -3,   /* the switch said no; the text has its reason */
    SWAGG_ERR_DEADLINE = -4,  /* time is up; the text names the missing ranks */
    SWAGG_ERR_MISMATCH = -5,  /* ranks called different collectives; the text names both */
    SWAGG_ERR_LOST = -6,      /* a peer died or left; the text names it */
    SWAGG_ERR_ABORTED = -7,   /* a peer gave up; the text has its reason */
    SWAGG_ERR_SYSTEM = -8,    /* a system call failed (sockets, memory); the text has its errno */
};

enum swagg_mode {
    SWAGG_ORDERED = 0, /* contributions are added in rank order: bit-for-bit reproducible. The default */
    SWAGG_ON_ARRIVAL =
        1 /* added as they come: less memory in the switch, floats rounded differently each run */
};

/* How damaged data packets are recognized. */
enum swagg_checksum {
    SWAGG_CHECKSUM_NONE = 0,  /* UDP's checksum alone. The default */
    SWAGG_CHECKSUM_CRC32C = 1 /* a CRC32C from end to end, in the place of UDP's checksum */
};

/* How floats travel (docs/libswagg.md, "SwitchML's numbers"). Whatever it is, i32 sums are exact. */
enum swagg_numbers {
    SWAGG_NUMBERS_NATIVE = 0, /* as they are, and added as such. The default */
    SWAGG_NUMBERS_INT32 = 1,  /* as the SwitchML paper has it, for switches that add integers only: as int32,
                                 with a scale for each packet. Sums of i32, f32 and f16 only */
    SWAGG_NUMBERS_FP16 = 2    /* in half the bytes: as binary16, with a scale for each packet. Sums of f32 and
                                 f16 only */
};

/* Whether swagg_allreduce may send less than the caller's numbers (docs/libswagg.md, "Compressed sums"). */
enum swagg_compression {
    SWAGG_COMPRESSION_NONE = 0, /* sums are exact, but for floats' rounding. The default */
    SWAGG_COMPRESSION_THC = 1 /* sums and averages of so many f32 as compress_least says are approximate, and
                                 travel in a few bits a number. All other calls stay as they are */
};

/* Whether what compression leaves out of a tensor is added to it the next time. */
enum swagg_feedback {
    SWAGG_FEEDBACK_BY_TENSOR = 0, /* a tensor is known by its name (swagg_name_tensor), or by where it is sent
                                     from and its length: for programs whose buffers hold the same tensor each
                                     time. The default */
    SWAGG_FEEDBACK_OFF = 1        /* it is lost: for programs whose buffers hold now this, now that */
};

/* When swagg_reduce returns on a rank that is not the root. */
enum swagg_reduce_return {
    SWAGG_REDUCE_COMPLETE = 0, /* when all ranks' contributions are summed: it succeeds or fails on all ranks
                                  alike. The default */
    SWAGG_REDUCE_BUFFERED = 1  /* when what is not summed yet fits the job's buffer, one packet a slot; if it
                                * then fails, this rank's log and next call say so */
};

/* How a job's tensors are summed (docs/libswagg.md, "ATP"). */
enum swagg_protocol {
    SWAGG_PROTOCOL_SWITCHML = 0, /* in slots of the switch's that are the job's own. The default */
    SWAGG_PROTOCOL_ATP = 1, /* by a parameter server, and by switches on the way, as far as these have room:
                               any number of jobs share what they have */
    SWAGG_PROTOCOL_AUTO = 2 /* SwitchML; where the switch has no slots for the job, ATP */
};

enum { SWAGG_SERVERS_MAX = 16 }; /* parameter servers of a job */

/* Where switches stand above one another (docs/libswagg.md, "Trees of switches"): how far sums go. */
enum swagg_uplink {
    SWAGG_UPLINK_CONFIGURED = 0, /* as the switch's configuration says. The default */
    SWAGG_UPLINK_NONE = 1        /* no further than the switch at switch_ip, which all ranks have then */
};

enum swagg_log_level { SWAGG_LOG_ERROR = 0, SWAGG_LOG_WARN = 1, SWAGG_LOG_INFO = 2, SWAGG_LOG_DEBUG = 3 };

/* Begin with SWAGG_OPTIONS_DEFAULT. */
struct swagg_options {
    size_t struct_size;    /* of this struct as the caller knows it, so that it can grow */
    const char *switch_ip; /* dotted IPv4 of the switch; required */
    const char *job;       /* name, 1..47 printable characters, the same on every rank; required */
    int rank, size;        /* 0 <= rank < size <= 1024 */
    /* These two, and numbers, the same on every rank. */
    enum swagg_mode mode;
    enum swagg_checksum checksum;
    enum swagg_reduce_return reduce; /* each rank as it likes */
    int slots;                       /* slots wanted from the switch; 0 = 1024 */
    int window; /* chunks in flight at most; 0 = adapts to the measured path, up to about half the slots. By
                   ATP: so many, without congestion control; 0 = congestion control decides */
    int mtu;    /* bytes of an IP packet, at most; 0 = as many as get through to the switch and back */
    int join_timeout_ms; /* swagg_open: everybody must be there by then; 0 = 30000 */
    int call_timeout_ms; /* a collective must be done by then; 0 = 120000. Time in which this process stood
                            still for a second and more does not count */
    int warn_after_ms;   /* a waiting call logs who is missing after this, then doubling it; 0 = 2000 */
    /* Called from either thread. May be NULL. */
    void (*log)(void *ctx, enum swagg_log_level level, const char *line);
    void *log_ctx;
    /* For callers with other communication to drive (MPI's point-to-point messages, which a peer may have to
     * receive before it joins the collective): called from the thread that is in a collective, or in a
     * swagg_close that waits for buffered reduces, at least once a millisecond. Must return soon and must not
     * use this job. May be NULL. */
    void (*progress)(void *ctx);
    void *progress_ctx;
    int answer_timeout_ms; /* swagg_open: a switch that is silent for so long is not there; 0 = 3000 */
    /* For callers whose users know types and operations by other names, MPI's for instance: the names in
     * messages; NULL: "f32", "sum". They return constant strings. Both or neither. */
    const char *(*type_name)(enum swagg_type type, enum swagg_op op);
    const char *(*op_name)(enum swagg_op op);
    enum swagg_numbers numbers;
    /* A file with the key that the switch's tenant shares with its workers (docs/configuration.md, "Key
     * files"): nobody without it can take this rank's place, end the job, or answer in the switch's name.
     * NULL: none. Read by swagg_open. */
    const char *key_file;
    enum swagg_compression compression; /* like all options of thc_ and compress_, the same on every rank */
    int thc_bits;                       /* of a number on its way to the switch, 1..4; 0 = 4 */
    int thc_granularity;                /* of the table, up to 255; 0 = 30, or less to fit sums of 8 bits */
    int thc_clamped_one_in; /* how rare the numbers are that are clamped: one in so many; 0 = 32 */
    int thc_block;          /* floats that are transformed at once: a power of two from 64 on; 0 = 4096 */
    int thc_sum_bits;       /* of a sum on its way back: 8 or 16; 0 = 8 if the ranks' sums fit, else 16 */
    int compress_least;     /* a call of fewer floats is not compressed; 0 = 16384 */
    enum swagg_feedback feedback; /* each rank as it likes */
    size_t feedback_bytes; /* memory for it, at most; the tensor used longest ago is forgotten first. 0 = 1
                              GiB */
    enum swagg_protocol protocol; /* the same on every rank */
    /* Dotted IPv4 of ATP's parameter server: swagg-ps, or a switch. Or of several, at most SWAGG_SERVERS_MAX,
     * with commas between them and in the same order on every rank: they share each call's packets. NULL:
     * switch_ip, which may be left out otherwise if the protocol is ATP. */
    const char *server_ip;
    enum swagg_uplink uplink; /* the same on every rank */
    /* Compressed calls only: a rank that has had no sum for so long goes on with those that it has, and zeros
     * for the rest (docs/libswagg.md, "Best effort"). Each rank as it likes. 0: it waits for all. */
    int best_effort_ms;
    /* Sums of fewer than all ranks (docs/libswagg.md, "Sums of a quorum"); these three the same on every
     * rank. So many ranks are enough for a sum, 1 to size; or so many percent of them, 1 to 100, rounded up.
     * Both 0: all ranks, or an error. */
    int quorum, quorum_percent;
    int quorum_wait_ms; /* from a packet's first contribution on, the ranks beyond the quorum are waited for
                           so long, 0 to 65535; then no more than the quorum is */
    int ranks_per_rack; /* ATP, and the same on every rank: so many ranks, in their order, are at one switch
                           that sums, the next ones at another; 1..64; 0 = 64 */
    int server_rack;    /* ATP, and the same on every rank: the parameter servers are at the switch of these
                           ranks, the first rack being 1; 1..64; 0, or a rack that the job does not have: at
                           another */
};
#define SWAGG_OPTIONS_DEFAULT ((struct swagg_options){.struct_size = sizeof(struct swagg_options)})

struct swagg_job;

/* Joins the job and waits until all ranks are there. *job is NULL on error. The options are copied. */
int swagg_open(struct swagg_job **job, const struct swagg_options *options);

/* recv[i] = send[i] of all ranks, combined by op, on every rank: with SWAGG_SUM their sum. count: elements of
 * swagg_element_size(type, op) bytes; may be 0. Not every operation is there for every type
 * (docs/libswagg.md has the table): what is not is SWAGG_ERR_ARGUMENT. send may equal recv; otherwise they
 * must not overlap. Both are the caller's and in use until the call returns; on an error recv is unspecified.
 */
int swagg_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                    enum swagg_op op);

/* The same, on rank root only; recv is ignored elsewhere and may be NULL there. When it returns elsewhere:
 * swagg_options.reduce. */
int swagg_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                 enum swagg_op op, int root);

/* A tensor of a vector call. send may equal recv; otherwise recv must not overlap a send or recv of any
 * segment. */
struct swagg_segment {
    const void *send;
    void *recv;
    size_t count;
};

/* swagg_allreduce of n tensors at once, as one call: small ones share packets, and none waits for the one
 * before it. The ranks must have the same elements in all; which tensors they lie in is each rank's own
 * affair. The array is in use until the call returns. n, and any count, may be 0. */
int swagg_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                     enum swagg_type type, enum swagg_op op);

/* model[i] = the mean of all ranks' model[i]: exact, whatever the job's compression, and the same bits on
 * every rank. For models that have drifted apart because compressed calls missed sums (best_effort_ms), now
 * and then. A collective like swagg_allreduce. */
int swagg_synchronize(struct swagg_job *job, float *model, size_t count);

/* Names the tensor of the next compressed call, for error feedback: for programs that do not have each tensor
 * in a buffer of its own. Only this rank's affair; 0: none. */
int swagg_name_tensor(struct swagg_job *job, uint64_t name);

/* Which ranks are in the sums of a call: all, but in jobs with a quorum. Begin with SWAGG_TURNOUT_INIT. A
 * rank that is not given the sums is told nothing: all is 0. */
struct swagg_turnout {
    size_t struct_size; /* of this struct as the caller knows it: only so many bytes are filled in */
    int least, most;    /* how many ranks are in an element; of those whose sum this rank got */
    uint64_t elements;  /* whose sum this rank got */
    uint64_t partial;   /* of these, those in which some rank is not */
    uint64_t left_out;  /* of these, those in which this rank is not */
    uint64_t missed;    /* whose sum was made so long ago that it could not be had any more: recv has 0 */
    /* The ranks in all, and in some, of the elements whose sum this rank got: bit r % 64 of word r / 64. */
    uint64_t in_all[16], in_some[16];
};
#define SWAGG_TURNOUT_INIT ((struct swagg_turnout){.struct_size = sizeof(struct swagg_turnout)})

/* Of the last call that succeeded. Between calls, from the thread that makes them. */
int swagg_get_turnout(struct swagg_job *job, struct swagg_turnout *turnout);

/* Tells the peers why this rank cannot go on; their calls fail with SWAGG_ERR_ABORTED and this text. */
void swagg_abort(struct swagg_job *job, const char *why);

/* Leaves the job (tells the switch, and waits at most 1 s for its answer) and frees everything. NULL is fine.
 * First waits for buffered reduces, at most call_timeout_ms; where one fails, the log has an error that names
 * it.
 */
void swagg_close(struct swagg_job *job);

/* Bytes that an element takes; 0: this operation is not there for this type. The same for every switch. */
size_t swagg_element_size(enum swagg_type type, enum swagg_op op);

/* 1: jobs with such numbers have this operation for this type; 0: they refuse it. The same for every switch.
 */
int swagg_numbers_carry(enum swagg_numbers numbers, enum swagg_type type, enum swagg_op op);

/* Version and build of this library, as in "0.1.0+6b38cdc4f1aa"; a constant string without spaces. */
const char *swagg_version(void);

/* A status in words; a constant string. */
const char *swagg_strerror(int status);

/* The text of this thread's last failing call; valid until the thread calls this library again. */
const char *swagg_last_error(void);

/* Totals since swagg_open. Begin with SWAGG_STATS_INIT. */
struct swagg_stats {
    size_t struct_size; /* of this struct as the caller knows it: only so many bytes are filled in */
    uint64_t calls, elements, bytes; /* collectives that succeeded; bytes of this rank's tensors */
    uint64_t packets_sent, packets_received, retransmitted, probes, timeouts, duplicates, bad_packets;
    uint64_t damaged_packets;                    /* dropped, because the job's checksum was wrong */
    uint64_t rtt_us, rto_us;                     /* smoothed round trip; retransmission timeout */
    uint32_t window, slots, elements_per_packet; /* in force; of 4 bytes */
    uint32_t resumed;                            /* times the job outlived a restart of its switch */
    uint64_t call_ns;                            /* that these collectives took */
    uint64_t waited_ns; /* of it, the time in which nothing came because some rank's part was missing */
    uint64_t unproven_messages; /* control messages to this rank, ignored: who sent them did not show that he
                                   has the key (swagg_options.key_file) */
    uint64_t compressed_calls, compressed_elements;
    /* Of the compressed calls: the square of the errors in what this rank sent, beside its tensors, and of
     * the sums. The mean square error of the sums, as a part of their own square (NMSE), is that of all
     * ranks' errors, added, by this rank's sums. What error feedback adds to a tensor is an error of the sum,
     * too. */
    double compression_error2, compression_sum2;
    uint64_t feedback_bytes;     /* memory for error feedback that is in use */
    uint64_t feedback_forgotten; /* tensors whose errors were lost because feedback_bytes are too few */
    uint64_t missed_calls; /* compressed calls that have ended without some of their sums (best_effort_ms) */
    uint64_t missed_elements; /* of the transformed tensors: those that were zeros for it */
    /* With a quorum: calls whose sums lack ranks, here, or are missed in part; over all calls, what struct
     * swagg_turnout says of each. missed_elements counts those that it calls missed, too. */
    uint64_t partial_calls, left_out_elements;
};
#define SWAGG_STATS_INIT ((struct swagg_stats){.struct_size = sizeof(struct swagg_stats)})

/* Fields that this library does not know become 0. SWAGG_ERR_ARGUMENT: struct_size is not set. Any thread may
 * call this, and swagg_get_waits, until swagg_close; during a call the totals are at most 0.1 s old. */
int swagg_get_stats(struct swagg_job *job, struct swagg_stats *stats);

/* Fills in for ranks 0..ranks-1 how long this rank has waited for each since swagg_open, in ns: the time in
 * which nothing came and that rank's part was missing, as the switch said when it was asked. Where several
 * ranks were missing each has the whole time, so together they may have more than waited_ns. Waits of less
 * than some three round trips are not noticed (docs/libswagg.md, "Who is late"). */
int swagg_get_waits(struct swagg_job *job, uint64_t waited_ns[], int ranks);

#ifdef __cplusplus
}
#endif
#endif
