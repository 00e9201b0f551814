/* A job's membership, kept alive by a thread of its own: joins, heartbeats, rejoins after a restart of the
 * switch, aborts.
 *
 * Two threads: the job's control thread, which lives from control_open to control_close, and the caller's.
 * They share the session under a mutex and one atomic flag; each sleeps in poll and is woken by the other
 * through a waker. Every function here is for the caller's thread.
 */
#ifndef SWAGG_CLIENT_CONTROL_THREAD_H
#define SWAGG_CLIENT_CONTROL_THREAD_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "control/session.h"
#include "logger.h"
#include "waker.h"

/* Other work for the control thread: turn is called whenever the thread wakes, without any lock; it says when
 * it wants to be called again, UINT64_MAX if nothing is to be done. As long as something is, the thread also
 * wakes when fd is readable. */
struct control_guest {
    int fd;
    uint64_t (*turn)(void *ctx);
    void *ctx;
};

struct control {
    struct own_fd socket;
    struct waker wake_thread, wake_caller;
    const struct logger *log;
    struct control_guest guest;
    pthread_t thread;
    atomic_bool changed, stop;
    pthread_mutex_t lock;
    /* under the lock */
    struct ctl_session session;
    struct {
        enum ctl_session_state state;
        unsigned generation, refused;
        bool robbed;
    } seen;           /* what the caller was woken for */
    unsigned refused; /* ICMP said that nobody listens there */
    int trouble;      /* errno of the newest failure to send or receive since something was heard, or 0 */
    bool robbed;      /* the application has closed a descriptor: nothing is sent any more, the thread ends */
    bool
        streaming; /* the caller is in a collective: results may still come in, its oldest tag is not final */
};

/* Opens the control socket and begins to join. log must live until control_close. Returns 0 or -errno; after
 * an error control_close is not to be called. */
int control_open(struct control *c, struct in_addr switch_ip, const struct ctl_session_config *config,
                 const struct logger *log, const struct control_guest *guest);

/* Stops the thread and closes the socket. */
void control_close(struct control *c);

/* In a child that inherited the job by fork: closes its copies of the descriptors and leaves the parent's
 * session alone. */
void control_abandon(struct control *c);

/* True once after something has changed that a collective must know of. Costs a load. */
bool control_changed(struct control *c);

/* A copy of the session. */
void control_look(struct control *c, struct ctl_session *session);

/* How often ICMP has said that nobody listens at the switch's control port. */
unsigned control_refusals(struct control *c);

/* Why messages may not have come through: errno of the newest failure since the switch was last heard, or 0.
 */
int control_trouble(struct control *c);

/* Somebody else in this process has closed the socket, or what the threads wake each other by. */
bool control_is_robbed(struct control *c);

/* What control_wait sleeps on, for a poll of the caller's own; control_woken when it is readable. */
int control_wake_fd(const struct control *c);
void control_woken(struct control *c);

/* Gives the thread a turn now. */
void control_wake(struct control *c);

/* Sleeps until something changes, at most until then. */
void control_wait(struct control *c, uint64_t until);

/* What the next heartbeat says. streaming: the caller is in a collective and will go on receiving. While it
 * is, a rejoin waits for a call with streaming false, so that the switch hears of an oldest tag that is
 * final. */
void control_progress(struct control *c, const struct ctl_heartbeat *progress, bool streaming);

/* The switch rejects our data packets: asks it why. */
void control_rejected(struct control *c);

/* Tells the switch, at once and until it has heard; the job is over. */
void control_abort(struct control *c, enum ctl_reason reason, unsigned rank, const char *text);

/* Tells the switch that this rank is done and waits for its word, at most until then. */
void control_leave(struct control *c, uint64_t until);

#endif
