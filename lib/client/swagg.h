/* libswagg: collectives over the ranks of a job, summed and copied in a swagg switch.
 *
 *     struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
 *     o.switch_ip = "10.0.0.254"; o.job = "train-1"; o.rank = 0; o.size = 4;
 *     struct swagg_job *job;
 *     int rc = swagg_open(&job, &o);
 *     if (rc == 0) rc = swagg_allreduce(job, grad, grad, n, SWAGG_F32, SWAGG_SUM);
 *     if (rc < 0) fprintf(stderr, "%s: %s\n", swagg_strerror(rc), swagg_last_error());
 *     swagg_close(job);
 *
 * Every rank must make the same collective calls in the same order. Collectives are swagg_allreduce,
 * swagg_allreducev, swagg_reduce, swagg_synchronize, and those from swagg_broadcast to swagg_barrier, which
 * return by their deadlines, with the exact result or with an error; and swagg_post_allreduce and its kin,
 * which, where there is a switch, return at once: the call goes on while the program does something else
 * (swagg_test, swagg_wait).
 *
 * Errors: functions that return int return SWAGG_OK or a negative enum swagg_status; swagg_last_error() has
 * what happened in words, and which ranks are missing. SWAGG_ERR_ARGUMENT and SWAGG_ERR_FULL change nothing:
 * the job goes on. After any other error of a collective the job can only be closed, and later collectives
 * return the same error again. The other ranks get an error, too, at the latest in their next collective
 * (with SWAGG_REDUCE_BUFFERED: in the next one that gives them a sum).
 *
 * Threads: any thread may make a job's collective calls, and several at once; a request is one thread's at a
 * time. But the order in which a job's calls are made is one, the same on every rank: threads that make calls
 * must agree on whose is next. swagg_close is for one thread, when no other is in a function with that job or
 * one of its requests. A job runs a thread of its own for heartbeats with each of its switches or parameter
 * servers, and as many again where ranks of one host sum first; and one for posted calls, if options say so,
 * or where ranks of one host sum first. A child process can only close a job that it inherited by fork.
 *
 * Data: elements are in the host's byte order, addresses are text, times are in the unit that the name ends
 * with. The library writes nothing to stdout or stderr; messages go to swagg_options.log.
 */
#ifndef SWAGG_H
#define SWAGG_H

#include <stddef.h>
#include <stdint.h>

/* All zero, but for its own size. Before C++20 C++ has no designated initializers. */
#ifdef __cplusplus
template <class T> T swagg_sized()
{
    T empty = T();
    empty.struct_size = sizeof(T);
    return empty;
}
#define SWAGG_SIZED(type) (swagg_sized<type>())
extern "C" {
#else
#define SWAGG_SIZED(type) ((type){.struct_size = sizeof(type)})
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
    SWAGG_LAND = 5, /* logical: the result is 1 or 0 */
    SWAGG_LOR = 6,
    SWAGG_LXOR = 7,
    SWAGG_BAND = 8, /* bitwise */
    SWAGG_BOR = 9,
    SWAGG_BXOR = 10,
    SWAGG_AVG = 11,     /* the sum, divided by the number of ranks */
    SWAGG_MINLOC = 12,  /* of struct {type value; int32_t index;}: the least value, and its index */
    SWAGG_MAXLOC = 13,  /* the same, with the greatest value */
    SWAGG_MINPAIR = 14, /* of type[2], {value, index}: the least value, and its index */
    SWAGG_MAXPAIR = 15  /* the same, with the greatest value */
};

/* 0 is success, errors are negative. "The text" is swagg_last_error(). */
enum swagg_status {
    SWAGG_IN_PROGRESS = 1, /* swagg_test: it has not ended */
    SWAGG_OK = 0,
    SWAGG_ERR_ARGUMENT = -1,  /* an argument or option is out of range; nothing was sent */
    SWAGG_ERR_NO_SWITCH = -2, /* swagg_open: nothing answered at that address, or not on its data ports */
    SWAGG_ERR_REFUSED = -3,   /* the switch refused the rank; the text has its reason */
    SWAGG_ERR_DEADLINE = -4,  /* the deadline passed; the text names the missing ranks */
    SWAGG_ERR_MISMATCH = -5,  /* ranks called different collectives; the text names both */
    SWAGG_ERR_LOST = -6,      /* a peer died or left; the text names it */
    SWAGG_ERR_ABORTED =
        -7, /* a peer gave up, or the switch's operator ended the job; the text has the reason */
    SWAGG_ERR_SYSTEM = -8, /* a system call failed (sockets, memory); the text has its errno */
    SWAGG_ERR_FULL = -9,   /* as many calls are posted as may be; nothing was sent, the job goes on */
};

#include "swagg_options.h"

struct swagg_job;

/* Joins the job and waits until all ranks are there, at most join_timeout_ms. On success *job is the
 * caller's, to be given to swagg_close; on error it is NULL. The options and their texts are copied; the
 * functions and contexts among them are used until swagg_close has returned. Any status: also what the job
 * has ended with meanwhile, if ranks that came out of it sooner have called and failed. */
int swagg_open(struct swagg_job **job, const struct swagg_options *options);

/* An option in words, as docs/libswagg.md has them: {"protocol", "atp"}, {"size", "4"}. */
struct swagg_word {
    const char *name, *value;
};

/* swagg_open for callers that do not have struct swagg_options, such as programs in other languages: n
 * options in words, the last of several of a name counts; the others have their defaults. log may be NULL.
 * Besides as swagg_open; a name or value that does not exist is SWAGG_ERR_ARGUMENT. */
int swagg_open_words(struct swagg_job **job, const struct swagg_word *words, size_t n,
                     void (*log)(void *ctx, enum swagg_log_level level, const char *line), void *log_ctx);

/* The option that a variable of the environment stands for with all that reads options from there, such as
 * libswagg-mpi.so: "SWAGG_SWITCH" is "switch_ip", and so is "SWAGG_SWITCH=10.0.0.254", as in environ. A
 * constant string; NULL: none. Any thread. */
const char *swagg_option_of_variable(const char *variable);

/* On every rank, recv[i] = op over all ranks' send[i]. count: elements of swagg_element_size(type, op) bytes;
 * may be 0. An operation that the type does not have (docs/libswagg.md has the table) is SWAGG_ERR_ARGUMENT.
 * send may equal recv; otherwise they must not overlap. Both stay the caller's, and are in use until the call
 * returns. On error recv is unspecified. Returns within call_timeout_ms; any status. */
int swagg_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                    enum swagg_op op);

/* As swagg_allreduce, but only rank root gets the result; recv is ignored on the others and may be NULL
 * there. swagg_options.reduce says when it returns on them. */
int swagg_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                 enum swagg_op op, int root);

/* One tensor of swagg_allreducev. send may equal recv; otherwise recv must not overlap a send or recv of any
 * segment. */
struct swagg_segment {
    const void *send;
    void *recv;
    size_t count; /* elements; may be 0 */
};

/* swagg_allreduce of n tensors in one call: small ones share packets, and none waits for the one before it.
 * The ranks must have the same number of elements in all, in the same order; each rank may divide them into
 * tensors as it likes. The array is in use until the call returns. n may be 0. */
int swagg_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                     enum swagg_type type, enum swagg_op op);

/* A collective call that was posted. It ends when its sum is there, or with an error; its end is told once,
 * by any status other than SWAGG_IN_PROGRESS of the functions below, which sets the pointer to NULL: then the
 * tensors are the caller's again, and the request is gone. */
struct swagg_request;

enum { SWAGG_REQUESTS_MAX = 64 }; /* calls of a job that are posted, until their ends were asked for */

/* How a call is posted. Begin with SWAGG_POST_DEFAULT. */
struct swagg_post {
    size_t struct_size;
    int timeout_ms; /* from now on; 0 = call_timeout_ms */
    uint64_t name;  /* as swagg_name_tensor, for this call; 0: what that has said */
    /* Of a compressed call, for programs that keep error feedback themselves, such as in checkpoints
     * (docs/libswagg.md, "Compressed sums"). */
    float *left_out; /* [count] what this rank's calls before have left out of the tensor, zeros at first; the
                        call adds it, and leaves there what it leaves out itself. In use as send is. Not
                        touched by other calls, or if options.feedback is off. NULL: the library keeps it */
    uint64_t round;  /* [same] the call's number, from which its random numbers follow; 0: that of the
                        compressed call before it, plus 1. The job's first has 1 */
    /* Of a call whose tensors are in a GPU's memory (docs/libswagg.md, "Tensors of GPUs"). */
    void *ready; /* an event of CUDA's (CUevent, cudaEvent_t) that has been recorded: until it has happened
                    the call reads and writes none of them, and does not begin; nor do those behind it. In use
                    until the function returns. NULL: what writes or reads them is done */
};
#define SWAGG_POST_DEFAULT SWAGG_SIZED(struct swagg_post)

/* Like the functions of the same names, but they return before there is a result. send and recv are in use
 * until the call has ended, segments, bytes, offsets and counts only until the function returns; what one
 * call in flight receives must not overlap what another sends or receives. how may be NULL. SWAGG_OK:
 * *request is the caller's; else it is NULL, and the call is not made. SWAGG_ERR_FULL: the ends of
 * SWAGG_REQUESTS_MAX were not asked for yet. Calls of a job end in the order in which they were made, and may
 * be tested and waited for in any. A deadline that passes ends the job, as in every collective. A job without
 * a switch has nobody to leave a call to: there these functions make it, and return when it has ended. */
int swagg_post_allreduce(struct swagg_job *job, const void *send, void *recv, size_t count,
                         enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                         struct swagg_request **request);
int swagg_post_allreducev(struct swagg_job *job, const struct swagg_segment *segments, size_t n,
                          enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                          struct swagg_request **request);
int swagg_post_reduce(struct swagg_job *job, const void *send, void *recv, size_t count, enum swagg_type type,
                      enum swagg_op op, int root, const struct swagg_post *how,
                      struct swagg_request **request);

int swagg_post_broadcast(struct swagg_job *job, void *buffer, size_t bytes, int root,
                         const struct swagg_post *how, struct swagg_request **request);
int swagg_post_allgather(struct swagg_job *job, const void *send, void *recv, size_t bytes,
                         const struct swagg_post *how, struct swagg_request **request);
int swagg_post_allgatherv(struct swagg_job *job, const void *send, void *recv, const size_t bytes[],
                          const size_t offsets[], const struct swagg_post *how,
                          struct swagg_request **request);
int swagg_post_reduce_scatter(struct swagg_job *job, const void *send, void *recv, const size_t counts[],
                              enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                              struct swagg_request **request);
int swagg_post_reduce_scatter_block(struct swagg_job *job, const void *send, void *recv, size_t count,
                                    enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                                    struct swagg_request **request);
int swagg_post_barrier(struct swagg_job *job, const struct swagg_post *how, struct swagg_request **request);

/* Whether it has ended: how, or SWAGG_IN_PROGRESS. Does not wait; without progress_thread it goes on with the
 * job's calls. *request NULL: SWAGG_OK. */
int swagg_test(struct swagg_request **request);

/* Waits for its end: any status. *request NULL: SWAGG_OK. */
int swagg_wait(struct swagg_request **request);

/* Waits until one of n requests of a job has ended: *index says which, and the status is that one's. NULLs
 * are passed over; if all are, *index is n. */
int swagg_wait_any(struct swagg_request *requests[], size_t n, size_t *index);

/* Waits for the ends of all: SWAGG_OK, or the status of the first that failed. Of several jobs, too. */
int swagg_wait_all(struct swagg_request *requests[], size_t n);

/* A descriptor that is readable while a posted call of this job has ended whose end was not told; to be
 * polled, not read or closed; the same each time, the job's until swagg_close. Or a negative status. Any
 * thread. */
int swagg_get_fd(struct swagg_job *job);

/* On every rank, model[i] = the mean of all ranks' model[i], never compressed, the same bits on every rank.
 * For models that drift apart because compressed calls miss sums (best_effort_ms): call it now and then. A
 * collective like swagg_allreduce. */
int swagg_synchronize(struct swagg_job *job, float *model, size_t count);

/* 1: calls take tensors in the memory of CUDA's GPUs, whose driver is loaded; 0: not. job NULL: of a job with
 * the default. SWAGG_ERR_ARGUMENT: it is of another process. */
int swagg_reaches_gpus(struct swagg_job *job);

/* Broadcast, all-gather, gather and scatter copy bytes, of any type, from rank to rank: each goes up once,
 * and the switch copies it to those that get it. Collectives as swagg_allreduce is: every rank makes the same
 * call, with the same lengths and root; a send and a recv must not overlap, but where it says that they may
 * be the same. They need a job summed by SwitchML with native numbers and all its ranks (no quorum), and a
 * switch, or switches, and ranks that are not too old: else SWAGG_ERR_ARGUMENT, in words, on every rank
 * alike; ask swagg_has_exchanges. */

/* 1: the job has these, and swagg_reduce_scatter; 0: not. SWAGG_ERR_ARGUMENT: job is NULL, or of another
 * process. */
int swagg_has_exchanges(struct swagg_job *job);

/* Every rank's buffer becomes that of rank root. */
int swagg_broadcast(struct swagg_job *job, void *buffer, size_t bytes, int root);

/* On every rank, recv, of size blocks of so many bytes, has rank r's send in block r. send may be where it
 * goes. */
int swagg_allgather(struct swagg_job *job, const void *send, void *recv, size_t bytes);

/* The same of blocks of different lengths: bytes[r] of rank r, to recv + offsets[r]; offsets NULL: one behind
 * the other. Both [size]; bytes [same]. Blocks in recv must not overlap. */
int swagg_allgatherv(struct swagg_job *job, const void *send, void *recv, const size_t bytes[],
                     const size_t offsets[]);

/* As swagg_allgather, but only rank root gets the blocks; recv is ignored on the others. */
int swagg_gather(struct swagg_job *job, const void *send, void *recv, size_t bytes, int root);

/* Rank r gets block r of rank root's send, of size blocks of so many bytes; send is ignored on the others. On
 * root recv may be where its block is. */
int swagg_scatter(struct swagg_job *job, const void *send, void *recv, size_t bytes, int root);

/* Rank r gets block r of what swagg_allreduce would give: counts[r] elements, behind those of the ranks
 * before it. send: elements of all blocks; counts: [size], [same]. Needs what swagg_broadcast needs. A sum of
 * floats is that of the other ranks, in the order of the job's mode, and this rank's own last; averages, and
 * sums and products of f16 and bf16, are those of swagg_allreduce. Never compressed. */
int swagg_reduce_scatter(struct swagg_job *job, const void *send, void *recv, const size_t counts[],
                         enum swagg_type type, enum swagg_op op);

/* The same with blocks of count elements each. */
int swagg_reduce_scatter_block(struct swagg_job *job, const void *send, void *recv, size_t count,
                               enum swagg_type type, enum swagg_op op);

/* Returns when all ranks have called it: a packet to the switch and one back, or none if all are on one host
 * without a switch. Every job without a quorum has it. */
int swagg_barrier(struct swagg_job *job);

/* Names the tensor of the next compressed call, for the error feedback of programs that do not have each
 * tensor in a buffer of its own. Each rank may choose its own names; 0: no name. SWAGG_ERR_ARGUMENT: job is
 * NULL. */
int swagg_name_tensor(struct swagg_job *job, uint64_t name);

/* Where a NIC carries this rank's packets (options.transport roce), it reads from this memory itself what
 * calls send from there, where the wire has their bytes (docs/libswagg.md, "By RoCE"); else all is copied
 * first, and this does nothing. So it takes nothing but time to leave it out. The memory stays the program's,
 * which changes it between calls as ever, but keeps it mapped until swagg_unregister, with the address that
 * it had here, or swagg_close. 64 pieces a job, at most. Each rank may do as it likes. Both wait for a call
 * that is in progress; any thread, when no other is in them. SWAGG_ERR_ARGUMENT: job or memory is NULL, or
 * bytes is 0, or a NIC carries the packets and memory is registered already, or not. SWAGG_ERR_SYSTEM: it
 * cannot be, in words. The job goes on in any case. */
int swagg_register(struct swagg_job *job, const void *memory, size_t bytes);
int swagg_unregister(struct swagg_job *job, const void *memory);

/* Which ranks are in the sums of a call: all of them, unless the job has a quorum. Begin with
 * SWAGG_TURNOUT_INIT. On a rank that does not get the sums (swagg_reduce) every field is 0. */
struct swagg_turnout {
    size_t struct_size; /* of this struct as the caller knows it: only so many bytes are filled in */
    int least, most;    /* ranks in an element, over the elements whose sum this rank got */
    uint64_t elements;  /* whose sum this rank got */
    uint64_t partial;   /* of these: elements that lack some rank */
    uint64_t left_out;  /* of these: elements that lack this rank */
    uint64_t missed;    /* elements whose sum the switch no longer had: recv has 0 there */
    /* The ranks that are in all, and in some, of the elements whose sum this rank got: rank r is bit r % 64
     * of word r / 64. */
    uint64_t in_all[16], in_some[16];
};
#define SWAGG_TURNOUT_INIT SWAGG_SIZED(struct swagg_turnout)

/* Of the last collective that succeeded. Any thread. SWAGG_ERR_ARGUMENT: a pointer
 * is NULL, or struct_size is not set. */
int swagg_get_turnout(struct swagg_job *job, struct swagg_turnout *turnout);

/* What a program may want to know before a call returns, or between two. */
enum swagg_event_kind {
    SWAGG_EVENT_LATE = 1, /* a call of this rank's waits, warn_after_ms already: for whom, how long, and
                             when that ends the job. Again after twice as long, and so on */
    /* The switch has been silent for half the time after which it would take this rank for lost, or has
     * restarted. Nothing has failed yet. */
    SWAGG_EVENT_SWITCH_LOST = 2,
    SWAGG_EVENT_SWITCH_FOUND = 3, /* it answers again, and the job goes on */
    SWAGG_EVENT_ENDED = 4,     /* the job has failed: the next call, or the one in progress, says so. Once */
    SWAGG_EVENT_LINK_LOST = 5, /* one of several switches is done without from now on, another goes on with
                                  its part of every call. Nothing has failed */
    SWAGG_EVENT_LINK_BACK = 6  /* it sums its part again */
};
struct swagg_event {
    size_t struct_size; /* of this struct as the library knows it */
    enum swagg_event_kind kind;
    const char *text; /* all of it in words, as in the log; like the pointers below, until the function
                         returns */
    const char *node; /* of SWITCH_ and LINK_: which switch, or parameter server: its address; else NULL */
    const int *ranks; /* LATE: those that are missing, as the switch said last; where ranks of one host sum
                         first, the one on this host that is. ENDED: NULL */
    int rank_count;   /* 0: it has not said, or is silent itself */
    int waited_ms;    /* LATE: since anything came. SWITCH_LOST: for how long the switch has been silent */
    int ends_in_ms;   /* LATE: then the call's deadline ends the job; else -1 */
    int status;       /* ENDED: enum swagg_status of the calls that fail; else 0 */
};

/* From now on event is called with ctx; NULL: no more. Once this has returned the one before is not called
 * any more. It is called by the thread that notices, which is one in a call of this job's, the job's own, or
 * its progress thread; never by two at once. It must return soon, for packets wait meanwhile, and must not
 * use this job. A job that is closed has not ended in this sense; of one that had ended before, it is told
 * before this returns. Any thread may call this until swagg_close.
 * SWAGG_ERR_ARGUMENT: job is NULL, or of another process. */
int swagg_on_event(struct swagg_job *job, void (*event)(void *ctx, const struct swagg_event *event),
                   void *ctx);

/* Ends the job on all ranks: the peers' calls fail with SWAGG_ERR_ABORTED and this text, and so do this
 * rank's, those that are in progress at once. why may be NULL, and is copied. Any thread may call this until
 * swagg_close. Not from log or progress. */
void swagg_abort(struct swagg_job *job, const char *why);

/* Leaves the job and frees everything, its requests, too. NULL is fine. Calls that are in flight are
 * cancelled: their tensors are the caller's, and on the peers they fail with SWAGG_ERR_ABORTED. Else waits
 * for buffered reduces, at most call_timeout_ms; if one fails, the log has an error that names it. With
 * several switches it waits as long at most until all ranks have finished the calls that this one has. Then
 * it tells the switch, and waits for its answer, at most 1 s; as long for each job that the rank has there
 * besides, for its host's rail and for further threads. */
void swagg_close(struct swagg_job *job);

/* Bytes of an element; 0: the type does not have this operation. The same for every switch. Any thread. */
size_t swagg_element_size(enum swagg_type type, enum swagg_op op);

/* 1: jobs with these numbers have this operation of this type; 0: they refuse it with SWAGG_ERR_ARGUMENT. The
 * same for every switch. Any thread. */
int swagg_numbers_carry(enum swagg_numbers numbers, enum swagg_type type, enum swagg_op op);

/* Version and build of this library, as in "0.1.0+6b38cdc4f1aa"; a constant string without spaces. */
const char *swagg_version(void);

/* A status in words; a constant string. Any thread. */
const char *swagg_strerror(int status);

/* The text of this thread's last failing call; valid until the thread calls this library again. */
const char *swagg_last_error(void);

/* Totals since swagg_open, of this rank. Begin with SWAGG_STATS_INIT. */
struct swagg_stats {
    size_t struct_size; /* of this struct as the caller knows it: only so many bytes are filled in */
    uint64_t calls, elements, bytes; /* collectives that succeeded, and their tensors */
    uint64_t packets_sent, packets_received, retransmitted, probes, timeouts, duplicates, bad_packets;
    uint64_t damaged_packets;     /* dropped, because the job's checksum or authenticator was wrong */
    uint64_t rtt_us, rto_us;      /* now: smoothed round trip; retransmission timeout */
    uint32_t window, slots;       /* now: packets that may be in flight; slots that the switch granted */
    uint32_t elements_per_packet; /* of 4 bytes, at most */
    uint32_t resumed;             /* restarts of the switch that the job has survived */
    uint64_t call_ns;             /* time in these collectives */
    uint64_t waited_ns;           /* of it, while nothing came because some rank's part was missing */
    uint64_t unproven_messages;   /* control messages to this rank that were ignored because their sender did
                                     not prove that it has the key (swagg_options.key_file) */
    uint64_t compressed_calls, compressed_elements;
    /* Of the compressed calls: the squared difference between this rank's tensors and what it sent for them;
     * and the square of the sums. The mean square error of the sums, as a share of their own square (NMSE),
     * is all ranks' compression_error2 together, divided by this rank's compression_sum2. What error feedback
     * adds to a tensor counts as an error, too. */
    double compression_error2, compression_sum2;
    uint64_t feedback_bytes;     /* now: memory that error feedback takes */
    uint64_t feedback_forgotten; /* tensors whose errors were lost because feedback_bytes are too few */
    uint64_t missed_calls;       /* compressed calls that ended without some of their sums (best_effort_ms) */
    uint64_t missed_elements;    /* elements, after the transform, that were zeros for that reason; with a
                                    quorum the sum of swagg_turnout.missed */
    /* With a quorum. */
    uint64_t partial_calls;     /* calls in which sums lack ranks, or were missed */
    uint64_t left_out_elements; /* the sum of swagg_turnout.left_out */
    uint32_t links_lost;        /* of several switches so many are done without now */
    uint32_t message_packets;   /* by RoCE: packets of the NIC's messages, at most; 0: not measured yet */
};
#define SWAGG_STATS_INIT SWAGG_SIZED(struct swagg_stats)

/* Fields that this library does not know become 0. Any thread may call this until swagg_close; during a call
 * the totals are at most 0.1 s old. SWAGG_ERR_ARGUMENT: a pointer is NULL, or struct_size is not set. */
int swagg_get_stats(struct swagg_job *job, struct swagg_stats *stats);

/* Fills in how long this rank has waited for each of the ranks 0..ranks-1 since swagg_open, in ns: the time
 * in which nothing came while that rank's part was missing, as the switch said when it was asked. Where
 * several ranks were missing each is charged the whole time, so together they may have more than
 * swagg_stats.waited_ns. Waits shorter than about three round trips are not noticed (docs/libswagg.md,
 * "Who is late"). Any thread may call this until swagg_close. SWAGG_ERR_ARGUMENT: job is NULL, or waited_ns
 * is NULL or ranks negative. */
int swagg_get_waits(struct swagg_job *job, uint64_t waited_ns[], int ranks);

#ifdef __cplusplus
}
#endif
#endif
