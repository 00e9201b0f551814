#include "control_thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monotonic.h"
#include "switchml/terms.h"

enum {
    RECEIVE_AT_ONCE = 64, /* messages and errors, so that nobody can keep the thread from its other work */
    SLEEP_MAX_MS = 500,   /* by then it has noticed that its descriptors are gone: nobody could wake it */
    WITHOUT_WAKER_MS = 10,
};

/* A socket that is connected reports ICMP's "port unreachable" of an earlier datagram with any later call. */
static void note_error(struct control *c, int error)
{
    if (error == ECONNREFUSED)
        c->refused++;
    c->trouble = error;
}

static bool is_robbed(struct control *c)
{
    c->robbed = c->robbed || !own_fd_holds(&c->socket) || !waker_holds(&c->wake_thread) ||
                !waker_holds(&c->wake_caller);
    return c->robbed;
}

/* While the caller is receiving, its oldest tag is not final and must not be told in a JOIN. */
static bool is_held_back(const struct control *c)
{
    return c->session.state == CTL_SESSION_REJOINING && c->streaming;
}

/* Sends what is due. A message that is lost here is repeated by the session. */
static void send_due(struct control *c, uint64_t now)
{
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;
    if (is_held_back(c) || is_robbed(c))
        return;
    while ((bytes = ctl_session_poll(&c->session, now, message)) > 0)
        if (send(c->socket.fd, message, bytes, MSG_DONTWAIT) < 0)
            note_error(c, errno);
}

static void receive_all(struct control *c)
{
    uint8_t message[CTL_MESSAGE_MAX];
    if (is_robbed(c))
        return;
    for (unsigned i = 0; i < RECEIVE_AT_ONCE; i++) {
        ssize_t bytes = recv(c->socket.fd, message, sizeof message, MSG_DONTWAIT);
        if (bytes >= 0) {
            c->trouble = 0;
            ctl_session_receive(&c->session, message, (size_t)bytes, monotonic_ns());
        } else if (errno == EAGAIN) {
            return;
        } else {
            note_error(c, errno);
        }
    }
}

static void log_news(const struct logger *log, const struct ctl_session *s)
{
    struct sml_terms terms = {0};
    switch (s->state) {
    case CTL_SESSION_READY:
        sml_terms_parse(&terms, &s->ready.terms);
        logger_write(log, SWAGG_LOG_INFO,
                     "job '%s': rank %u of %u is in: epoch %u, %u slots, %u bytes a packet", s->cfg.join.name,
                     s->cfg.rank, s->cfg.size, s->epoch, terms.slots, terms.chunk_bytes);
        break;
    case CTL_SESSION_REJOINING:
        logger_write(log, SWAGG_LOG_WARN, "job '%s': the switch has restarted; rank %u joins again",
                     s->cfg.join.name, s->cfg.rank);
        break;
    case CTL_SESSION_FAILED:
        /* The caller's next call says it, too. */
        logger_write(log, SWAGG_LOG_INFO, "job '%s': %s", s->cfg.join.name, s->failure.text);
        break;
    default:
        break;
    }
}

/* Wakes the caller if there is something that it has not been woken for; true if that is worth a line in the
 * log. */
static bool announce(struct control *c)
{
    const struct ctl_session *s = &c->session;
    bool news = s->state != c->seen.state || s->generation != c->seen.generation;
    if (!news && c->refused == c->seen.refused && c->robbed == c->seen.robbed)
        return false;
    c->seen.state = s->state;
    c->seen.generation = s->generation;
    c->seen.refused = c->refused;
    c->seen.robbed = c->robbed;
    atomic_store(&c->changed, true);
    waker_wake(&c->wake_caller);
    return news;
}

/* One turn of the session; returns when the next is due. The log is the caller's code and is called without
 * the lock. */
static uint64_t turn(struct control *c)
{
    struct ctl_session copy;
    pthread_mutex_lock(&c->lock);
    receive_all(c);
    send_due(c, monotonic_ns());
    bool news = announce(c);
    if (news)
        copy = c->session;
    uint64_t next = is_held_back(c) ? UINT64_MAX : ctl_session_timer(&c->session);
    pthread_mutex_unlock(&c->lock);
    if (news)
        log_news(c->log, &copy);
    return next;
}

static void *run(void *arg)
{
    struct control *c = arg;
    while (!atomic_load(&c->stop)) {
        uint64_t next = turn(c), guest_next = c->guest.turn(c->guest.ctx), now = monotonic_ns();
        if (control_is_robbed(c))
            break;
        bool guest_waits = guest_next != UINT64_MAX;
        struct pollfd fds[] = {{.fd = c->socket.fd, .events = POLLIN},
                               {.fd = c->wake_thread.sleeper.fd, .events = POLLIN},
                               {.fd = guest_waits ? c->guest.fd : -1, .events = POLLIN}};
        next = next < guest_next ? next : guest_next;
        uint64_t latest = now + SLEEP_MAX_MS * NS_PER_MS;
        struct timespec timeout = timespec_until(next < latest ? next : latest, now);
        ppoll(fds, 3, &timeout, NULL);
        if (fds[1].revents)
            waker_drain(&c->wake_thread);
    }
    return NULL;
}

/* Signals are the application's business: this thread takes none. */
static int start_thread(struct control *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&c->thread, NULL, run, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

static int open_fds(struct control *c, struct in_addr switch_ip)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = switch_ip, .sin_port = htons(CTL_PORT)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
    if (fd < 0)
        return -errno;
    c->socket = own_fd_of(fd);
    if ((rc = waker_open(&c->wake_thread)) < 0 || (rc = waker_open(&c->wake_caller)) < 0)
        return rc;
    return connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ? -errno : 0;
}

static void close_fds(struct control *c)
{
    own_fd_close(&c->socket);
    waker_close(&c->wake_thread);
    waker_close(&c->wake_caller);
}

int control_open(struct control *c, struct in_addr switch_ip, const struct ctl_session_config *config,
                 const struct logger *log, const struct control_guest *guest)
{
    *c = (struct control){.log = log,
                          .guest = *guest,
                          .socket = OWN_FD_NONE,
                          .wake_thread = WAKER_NONE,
                          .wake_caller = WAKER_NONE};
    pthread_mutex_init(&c->lock, NULL);
    ctl_session_init(&c->session, config, monotonic_ns());
    int rc = open_fds(c, switch_ip);
    if (rc < 0 || (rc = start_thread(c)) < 0)
        goto err;
    return 0;
err:
    close_fds(c);
    pthread_mutex_destroy(&c->lock);
    return rc;
}

void control_close(struct control *c)
{
    atomic_store(&c->stop, true);
    waker_wake(&c->wake_thread);
    pthread_join(c->thread, NULL);
    close_fds(c);
    pthread_mutex_destroy(&c->lock);
}

void control_abandon(struct control *c)
{
    close_fds(c);
}

bool control_changed(struct control *c)
{
    return atomic_load(&c->changed) && atomic_exchange(&c->changed, false);
}

void control_look(struct control *c, struct ctl_session *session)
{
    pthread_mutex_lock(&c->lock);
    *session = c->session;
    pthread_mutex_unlock(&c->lock);
}

unsigned control_refusals(struct control *c)
{
    pthread_mutex_lock(&c->lock);
    unsigned refused = c->refused;
    pthread_mutex_unlock(&c->lock);
    return refused;
}

int control_trouble(struct control *c)
{
    pthread_mutex_lock(&c->lock);
    int trouble = c->trouble;
    pthread_mutex_unlock(&c->lock);
    return trouble;
}

bool control_is_robbed(struct control *c)
{
    pthread_mutex_lock(&c->lock);
    bool robbed = is_robbed(c);
    pthread_mutex_unlock(&c->lock);
    return robbed;
}

int control_wake_fd(const struct control *c)
{
    return c->wake_caller.sleeper.fd;
}

void control_woken(struct control *c)
{
    waker_drain(&c->wake_caller);
}

void control_wake(struct control *c)
{
    waker_wake(&c->wake_thread);
}

void control_wait(struct control *c, uint64_t until)
{
    uint64_t now = monotonic_ns(), soon = now + WITHOUT_WAKER_MS * NS_PER_MS;
    struct timespec timeout = timespec_until(until, now);
    struct pollfd fd = {.fd = c->wake_caller.sleeper.fd, .events = POLLIN};
    if (ppoll(&fd, 1, &timeout, NULL) <= 0)
        return;
    waker_drain(&c->wake_caller);
    if (!waker_holds(&c->wake_caller)) { /* it would wake for ever */
        timeout = timespec_until(until < soon ? until : soon, now);
        nanosleep(&timeout, NULL);
    }
}

/* What the caller has told the session goes out from here, so that it is sent even if the process ends right
 * after. */
static void unlock_and_send(struct control *c)
{
    send_due(c, monotonic_ns());
    pthread_mutex_unlock(&c->lock);
    waker_wake(&c->wake_thread);
}

void control_progress(struct control *c, const struct ctl_heartbeat *progress, bool streaming)
{
    pthread_mutex_lock(&c->lock);
    bool held_back = is_held_back(c);
    c->session.heartbeat = *progress;
    c->streaming = streaming;
    bool released = held_back && !is_held_back(c);
    pthread_mutex_unlock(&c->lock);
    if (released)
        waker_wake(&c->wake_thread);
}

void control_rejected(struct control *c)
{
    pthread_mutex_lock(&c->lock);
    ctl_session_rejected(&c->session, monotonic_ns());
    unlock_and_send(c);
}

void control_abort(struct control *c, enum ctl_reason reason, unsigned rank, const char *text)
{
    struct ctl_failure why = {.reason = (uint16_t)reason, .rank = (uint16_t)rank};
    strncpy(why.text, text, sizeof why.text - 1);
    pthread_mutex_lock(&c->lock);
    ctl_session_abort(&c->session, &why, monotonic_ns());
    unlock_and_send(c);
}

void control_leave(struct control *c, uint64_t until)
{
    pthread_mutex_lock(&c->lock);
    ctl_session_leave(&c->session, monotonic_ns());
    unlock_and_send(c);
    struct ctl_session s;
    do {
        control_wait(c, until);
        control_look(c, &s);
    } while (s.state == CTL_SESSION_LEAVING && monotonic_ns() < until && !control_is_robbed(c));
}
