/* A job's membership, kept alive by a thread of its own: joins, heartbeats, rejoins after a restart of the
 * switch, aborts.
 *
 * Two threads: the job's membership thread, which lives from membership_open to membership_stop, and the
 * caller's. They share the session under a mutex and one atomic flag; each sleeps in poll and is woken by the
 * other through a waker. The caller's waker is its own, and may be that of several memberships. Every
 * function here is for the caller's thread.
 */
#pragma once

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "control/session.h"
#include "describe.h"
#include "network.h"
#include "options.h"
#include "own_fd.h"
#include "transfer/worker.h"

/* Other work for the membership thread: turn is called whenever the thread wakes, without any lock; it says
 * when it wants to be called again, UINT64_MAX if nothing is to be done. As long as something is, the thread
 * also wakes when fd is readable. */
struct membership_guest {
    int fd;
    uint64_t (*turn)(void *ctx);
    void *ctx;
};

/* What the program may want to know of a session. */
enum membership_news {
    MEMBERSHIP_SILENT = 1, /* half of the time after which the switch takes this rank for lost */
    MEMBERSHIP_RESTARTED,
    MEMBERSHIP_BACK, /* after one of these */
    MEMBERSHIP_FAILED,
};

/* Whom it is told, by the membership's thread, without any lock. */
struct membership_hearer {
    void (*hear)(void *ctx, enum membership_news news, const struct ctl_session *session);
    void *ctx;
};

struct membership {
    struct own_fd
        socket; /* under the lock, like the next and the guest's fd, once membership_move may be called */
    struct ctl_credentials credentials; /* that the session refers to */
    struct waker wake_thread;
    struct waker *wake_caller; /* the job's */
    const struct client_node *node;
    const struct logger *log;
    const struct agg_worker *worker;
    struct membership_guest guest;
    struct membership_hearer hearer;
    bool lost; /* it was told that the switch is silent, or has restarted; under the lock */
    pthread_t thread;
    atomic_bool changed, stop;
    pthread_mutex_t lock;
    /* under the lock */
    struct ctl_session session;
    struct {
        enum ctl_session_state state;
        unsigned generation;
        bool fds_closed, all_finished;
    } seen;          /* what the caller was woken for */
    int trouble;     /* errno of the newest failure to send or receive since something was heard, or 0 */
    bool fds_closed; /* the application has closed one of our descriptors: nothing is sent, the thread ends */
    /* the caller is in a collective: results may still come in, its oldest tag is not final */
    bool streaming;
};

/* What a membership is made of. node, worker, log and the waker must live until membership_stop. */
struct membership_parts {
    struct network *network; /* that carries its messages; used by membership_open alone */
    const struct client_node *node;
    const struct ctl_session_config *config;
    const struct keys_key *key;      /* what to seal messages with; NULL: nothing */
    const struct agg_worker *worker; /* of the job's protocol */
    const struct logger *log;
    struct membership_guest guest;
    struct membership_hearer hearer;
    /* rung when there is something for the caller; other memberships may share it */
    struct waker *wake_caller;
};

/* Opens the control socket and begins to join. Returns 0 or -errno; after an error membership_close is not to
 * be called. */
int membership_open(struct membership *m, const struct membership_parts *parts);

/* Leaves the switch for another, where it joins anew by this session: the former hears why, if it still
 * hears, and nothing of what it says counts any more. The thread stays, and may be the one that calls this.
 * fd: in the place of the guest's. 0, or -errno, which changes nothing. */
int membership_move(struct membership *m, struct network *network, const struct client_node *to,
                    const struct ctl_session_config *config, const struct ctl_failure *why, int fd);

/* What its messages are sealed with; NULL: nothing. It stays as it is. */
const struct keys_key *membership_key(const struct membership *m);

/* Ends the thread; returns when it has ended. All functions may still be called. */
void membership_stop(struct membership *m);

/* Closes the socket of one whose thread has ended. */
void membership_close(struct membership *m);

/* In a child that inherited the job by fork: closes its copies of the descriptors and leaves the parent's
 * session alone. */
void membership_abandon(struct membership *m);

/* True once after each change that a collective must know of. Cheap: one atomic load. */
bool membership_changed(struct membership *m);

/* A copy of the session. */
void membership_look(struct membership *m, struct ctl_session *session);

/* The same, once what waits in the socket has been received: the thread may have had no CPU for that yet. */
void membership_hear(struct membership *m, struct ctl_session *session);

/* How many messages were to this rank that did not show that who sent them has its key. */
unsigned membership_unproven(struct membership *m);

/* Why messages may not have come through: errno of the newest failure since the switch was last heard, or 0.
 */
int membership_trouble(struct membership *m);

/* The application has closed the socket or a waker's descriptor. */
bool membership_fds_are_closed(struct membership *m);

/* Wakes the thread, so that it looks at once whether there is work. */
void membership_wake(struct membership *m);

/* What the next heartbeat says. streaming: the caller is in a collective and will go on receiving. Until it
 * is called with streaming false, no rejoin is sent: the JOIN names the oldest incomplete chunk, which must
 * not change afterwards. */
void membership_progress(struct membership *m, const struct ctl_heartbeat *progress, bool streaming);

/* Asks, if it has not yet, whether all ranks have finished as many calls as this one has told last; the
 * caller is woken when they have. Whether that is known. */
bool membership_all_have_finished(struct membership *m);

/* The switch has rejected our data packets: sends a heartbeat at once, whose answer tells why. */
void membership_rejected(struct membership *m);

/* Ends the job: tells the switch at once, and again until it has answered, which wakes the caller. To leave
 * ends that, too. */
void membership_abort(struct membership *m, enum ctl_reason reason, unsigned rank, const char *text);
bool membership_is_aborting(struct membership *m);

/* Tells the switch that this rank is done; the caller is woken when it has answered, or will not. */
void membership_leave(struct membership *m);
bool membership_is_leaving(struct membership *m);
