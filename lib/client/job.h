/* The library's handle on a job: what open, the collectives and close share. The functions are
 * called with the job's lock held; `now` is monotonic, in ns. */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "compress.h"
#include "events.h"
#include "gpu.h"
#include "links/shares.h"
#include "membership.h"
#include "network.h"
#include "options.h"
#include "protocol/protocol.h"
#include "requests.h"
#include "spin.h"
#include "swagg.h"
#include "transfer/worker.h"
#include "transport.h"
#include "waits.h"

_Static_assert((int)SWAGG_SERVERS_MAX <= LINKS_MAX, "each of a job's switches is reached by a link");

/* What a job has of one node that sums it: a job by SwitchML has one such part, a job by ATP one for each of
 * its parameter servers. Each is a membership of its own, with its own stream, and so has its own number,
 * packets and congestion control; a call is complete when all streams are done with it. */
struct job_part {
    struct swagg_job *job;
    unsigned index; /* which of the job's nodes it is for */
    const struct client_node
        *_Atomic node; /* of the job's options: that one, or who does its work (links.h) */
    struct membership membership;
    bool membership_is_open;
    struct transport *transport; /* what follows is under the job's lock */
    void *stream_memory;
    void *stream;             /* the protocol's */
    struct agg_granted terms; /* as the session has them now */
    unsigned generation;      /* of the session: the one that the stream works under */
    struct agg_terms granted; /* the same, as the switch has said them */
    bool rejoining;           /* the switch has restarted: nothing is received until the job is joined anew */
    struct membership standby; /* at the node of this index; used while struct links says that it is open */
    bool rejected;             /* so the stream was when it was last looked at */
    uint32_t resumed;
};

/* watch.h */
struct watch {
    uint64_t warn_after, warn_at; /* without progress; doubles with every warning */
    uint64_t tick_at;             /* watch_tick is due */
    /* of reduces from which this rank has returned, while swagg_close waits for them; else UINT64_MAX */
    uint64_t deadline;
    uint64_t began; /* ... when it began to */
};

/* What is to be looked at now and then while a call waits: true, the job cannot go on. Who is to hear why
 * a job has failed, besides those who hear it by its parts. And what has other threads let go of the tensors
 * of its calls, before these end. All may be NULL. */
struct job_look {
    bool (*at)(void *ctx);
    void *ctx;
};
struct job_tell {
    void (*others)(void *ctx, int status, enum ctl_reason reason, const char *text);
    void *ctx;
};

struct job_quell {
    void (*others)(void *ctx, const char *text);
    void *ctx;
};

struct level;
struct lanes;

struct swagg_job {
    struct client_options options;
    const struct agg_kernels *kernels;
    struct network *network; /* NULL: not open yet */
    pid_t owner;             /* a child that inherits the job by fork cannot use it */
    struct job_part *parts;  /* [part_count], one for each of the job's nodes */
    unsigned part_count;     /* 0: all ranks are on this host, and sum in its memory alone */
    struct level *level;     /* by which calls go that it takes (local/level.h); NULL: there is none */
    struct lanes *lanes;     /* its threads beyond the first (lanes.h); NULL: it has none */
    struct swagg_job *rail;  /* the level's, for totals; NULL: this rank has none */
    struct events events;    /* what the program is told; of a rail nobody is told anything */
    struct job_look look;
    struct job_tell tell;
    struct job_quell quell;
    const struct agg_protocol *protocol;
    const struct agg_worker *worker; /* of the job's protocol */
    struct waker waker;              /* for the caller, who sleeps on it: the memberships ring it */
    struct requests requests;        /* has a lock of its own */
    pthread_t progress_thread;       /* where options say that there is one */
    bool has_progress_thread;
    atomic_bool closing;     /* that thread is to end */
    pthread_mutex_t between; /* has the membership thread that is at work between two calls */
    /* Whoever has the lock may keep it for long, and wakes the membership threads if they have something to
     * do after that: a call, swagg_close, or swagg_open. */
    atomic_bool busy;
    /* The rest is the caller's during a call, and that thread's between calls; of the parts, too. */
    pthread_mutex_t lock;
    struct agg_granted terms; /* of all parts: slots in all, the least chunks */
    bool calling;             /* the streams have calls in progress */
    bool fresh;               /* ... of which the first has just begun: nothing can have come for it */
    uint32_t streamed;        /* calls that they were given */
    bool in_thread;           /* the driver is the progress thread */
    struct watch watch;
    struct links links;
    struct shares shares;
    struct {
        struct swagg_request request; /* for the streams alone, ... */
        uint64_t packets;             /* ... in so many */
    } agreement;                      /* by which ranks agree on these two (rates.h) */
    struct spin spin;
    uint64_t progress_at;   /* when options.progress is due */
    enum ctl_reason reason; /* why the job has failed, if the switch or a peer has said so; else CTL_OK */
    int failure;            /* status of the first failing call: no other can succeed. 0: all is well */
    char failure_text[CLIENT_TEXT_MAX];
    struct gpu gpu;                /* of calls on its memory */
    struct swagg_request *flowing; /* the newest that the streams have, whose tensor is not all there yet */
    bool coming;                   /* the next one's, which begins when all of it is there */
    struct compress compress;      /* of compressed calls */
    struct swagg_request *compressed[COMPRESS_CALLS]; /* those in flight, the oldest first; NULL: no more */
    bool computing;                  /* calls_step has just computed some of these, and may go on at once */
    uint64_t calls, elements, bytes; /* of calls that succeeded */
    uint64_t call_ns;                /* in which any of these was in flight */
    uint64_t busy_since;             /* ... up to here it is counted */
    uint64_t partial_calls, left_out, missed; /* calls whose sums lack ranks; elements of them all */
    struct waits waits;                       /* any thread may read it; and ... */
    struct waits local_waits;                 /* ... those in the host, by the job's level */
    struct {
        pthread_mutex_t lock;
        struct swagg_stats stats;
        struct xfer_turnout turnout;              /* of the last call that succeeded, ... */
        struct xfer_call by_level;                /* ... unless that is this one of the job's level, ... */
        bool is_by_level;                         /* ... which has everybody */
        uint64_t calls, elements, bytes, call_ns; /* of those by the job's level */
        struct agg_granted terms;
    } shown; /* what any thread may see of the above while a call is in progress */
};

/* What struct agg_worker says of one stream, of all of a job's. An error of parts_begin leaves all of them as
 * they were. */
int parts_begin(struct swagg_job *job, const struct xfer_call *call, struct xfer_segment segments[], size_t n,
                uint64_t now);

/* MISMATCH or REJECTED if any is; else RUNNING if any is; else DONE. */
enum xfer_status parts_status(const struct swagg_job *job);
const struct job_part *parts_buffered(const struct swagg_job *job); /* the first that is; NULL: none */
uint64_t parts_left(const struct swagg_job *job);
uint32_t parts_ended(const struct swagg_job *job); /* calls that all of them are done with */
uint64_t parts_packets(const struct swagg_job *job, const struct xfer_call *call);
uint64_t parts_progress(const struct swagg_job *job);
void parts_stats(const struct swagg_job *job, struct xfer_stats *out);

/* The one that has not been done with the call in progress for longest; the first if all are. */
struct job_part *parts_slowest(const struct swagg_job *job);

/* " at the parameter server 10.0.0.9", to be appended to what is said of a part; empty if it is the only one.
 */
enum { PART_NAME_MAX = 64 };
const char *part_name(const struct job_part *part, char text[PART_NAME_MAX]);

/* Before tensors are the caller's again: no NIC reads them any more. Where one cannot be stopped but by
 * giving it up, the next send says so. */
void job_settle(struct swagg_job *job);

/* SWAGG_OK, or SWAGG_ERR_ARGUMENT: job is NULL, or another process's. */
int job_check_own(const struct swagg_job *job);

/* The job cannot go on: keeps status and text for later calls. Returns status. */
int job_fail(struct swagg_job *job, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same; the peers are told, in the same words. */
int job_fail_and_tell(struct swagg_job *job, int status, enum ctl_reason reason, const char *text);

/* With which reason the peers are told, so that they return the same status; but for a deadline, which is
 * this rank's alone. */
enum ctl_reason job_reason_of(int status);

/* The same from a thread that does not have the job's lock: whoever has it ends the job at once. Does nothing
 * if it has failed already. */
void job_end(struct swagg_job *job, int status, const char *text);

/* The same: this rank cannot go on with a call, for the reason that is this thread's last error. Returns the
 * job's failure. */
int job_end_here(struct swagg_job *job);

/* The same: the program closes the job while this call, which it has posted, is in flight. */
void job_cancel(struct swagg_job *job, const struct xfer_call *call);

/* Does what job_end has asked for; the lock's holder looks now and then. 0, or the job's failure. */
int job_check_end(struct swagg_job *job);

/* The same for a part's session that has failed, with the text from the switch or from a peer; those who have
 * to do with the job's other parts are told. */
int job_fail_session(struct job_part *part, const struct ctl_session *session);

/* Whether one of the job's switches may go on for another; and whether a session that has failed so may end
 * no more than the use of one, which links.h decides, or nothing for who does not call. Any thread. */
bool job_has_links(const struct swagg_job *job);
bool job_may_outlive(const struct swagg_job *job, const struct ctl_session *session);

/* What a part's session has met with, for the program. Of the membership's thread. */
void job_hear(struct job_part *part, enum membership_news news, const struct ctl_session *session);

/* A call waits, says this text, for these ranks. now: ns, as since, when anything came last, and the deadline
 * that will end the job. Whatever locks the caller has. */
void job_tell_late(struct swagg_job *job, const char *text, const struct ctl_ranks *missing, uint64_t since,
                   uint64_t now, uint64_t deadline);

/* The application has closed a descriptor of the job's, or given its number to another file. */
int job_fail_fds_closed(struct swagg_job *job, const char *what);

/* A transport to this node for packets as long as those that the part has, or on a path that takes so many
 * bytes of an IP packet. 0, or -errno. */
int job_open_transport(struct job_part *part, const struct client_node *node, unsigned mtu,
                       struct transport **out, char why[NETWORK_WORDS]);

/* What all sessions of the job's have in common. Of join: all but its terms and data_port. */
struct ctl_session_config job_session_config(const struct swagg_job *job, const char *name,
                                             uint64_t join_within_ns);

/* Takes over the terms that a part's session has agreed on with the switch. */
int job_adopt_terms(struct job_part *part, const struct ctl_session *session);

/* The job's terms as they are now. Any thread, without the job's lock. */
struct agg_granted job_terms(struct swagg_job *job);

/* Joins the group that they name, in the place of one that was joined before. Where this host cannot hear it,
 * the server notices, and sends it results of its own. */
void job_join_group(struct job_part *part);

/* What a part's stream is to be made of, or go on with, once all parts have their terms. shared:
 * ctl_session_shared. */
struct agg_stream_config job_stream_config(const struct job_part *part, const struct ctl_session *session,
                                           const struct keys_secret *shared);

/* Notes who is in the sums of a call that has just succeeded. in: NULL, all ranks, for there is no quorum. */
void job_note_turnout(struct swagg_job *job, const struct xfer_call *call, const struct xfer_turnout *in);

/* Counts a call that has succeeded by the job's level, in so many ns. Any thread, without the job's lock. */
void job_count(struct swagg_job *job, const struct xfer_call *call, uint64_t ns);

/* Shows other threads the job's totals as they are now. The stream is open. */
void job_show(struct swagg_job *job);

/* For whom a call waits: at its begin (and when the switch is asked anew), and when there may be news.
 * Between calls nobody waits. */
void job_begin_waits(struct swagg_job *job, uint64_t now);
void job_note_waits(struct swagg_job *job, uint64_t now);

/* Updates what the next heartbeats say. */
void job_report(struct swagg_job *job, uint64_t now);
