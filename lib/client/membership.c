#include "membership.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monotonic.h"
#include "own_thread.h"
#include "sodium_keys.h"

enum {
    RECEIVE_AT_ONCE = 64, /* messages and errors in a row; then the thread's other work has its turn */
    SLEEP_MAX_MS = 500,   /* then it looks whether its descriptors were closed, for nobody could wake it */
};

static bool fds_are_closed(struct membership *m)
{
    m->fds_closed = m->fds_closed || !own_fd_holds(&m->socket) || !waker_holds(&m->wake_thread) ||
                    !waker_holds(m->wake_caller);
    return m->fds_closed;
}

/* While the caller is receiving, its oldest tag is not final and must not be told in a JOIN. */
static bool is_held_back(const struct membership *m)
{
    return m->session.state == CTL_SESSION_REJOINING && m->streaming;
}

/* Sends what is due. A message that is lost here is repeated by the session. */
static void send_due(struct membership *m, uint64_t now)
{
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;
    if (is_held_back(m))
        return;
    while ((bytes = ctl_session_poll(&m->session, now, message)) > 0 && !fds_are_closed(m))
        if (send(m->socket.fd, message, bytes, MSG_DONTWAIT) < 0)
            m->trouble = errno; /* also ICMP's about an earlier message: the socket is connected */
}

static void receive_all(struct membership *m)
{
    uint8_t message[CTL_MESSAGE_MAX];
    if (fds_are_closed(m))
        return;
    for (unsigned i = 0; i < RECEIVE_AT_ONCE; i++) {
        ssize_t bytes = recv(m->socket.fd, message, sizeof message, MSG_DONTWAIT);
        if (bytes >= 0) {
            m->trouble = 0;
            ctl_session_receive(&m->session, message, (size_t)bytes, monotonic_ns());
        } else if (errno == EAGAIN) {
            return;
        } else {
            m->trouble = errno;
        }
    }
}

static void log_news(const struct membership *m, const struct client_node *node, const struct ctl_session *s)
{
    const struct logger *log = m->log;
    struct agg_granted terms;
    switch (s->state) {
    case CTL_SESSION_READY:
        terms = m->worker->terms(&s->ready.terms);
        logger_write(log, SWAGG_LOG_INFO,
                     "job '%s': rank %u of %u is in: %s %s, epoch %u, %u slots, %u bytes a packet%s",
                     s->cfg.join.name, s->cfg.rank, s->cfg.size, node->what, node->text, s->epoch,
                     terms.slots, terms.chunk_bytes, terms.keyed ? ", keyed" : "");
        /* The same for all ranks, whose logs may be one terminal: one of them warns. */
        if (terms.unhelped != NULL)
            logger_write(log, s->cfg.rank == 0 ? SWAGG_LOG_WARN : SWAGG_LOG_INFO,
                         "job '%s': the parameter server %s alone adds: %s", s->cfg.join.name, node->text,
                         terms.unhelped);
        break;
    case CTL_SESSION_REJOINING:
        logger_write(log, SWAGG_LOG_WARN, "job '%s': the %s %s has restarted; rank %u joins again",
                     s->cfg.join.name, node->what, node->text, s->cfg.rank);
        break;
    case CTL_SESSION_FAILED:
        /* The caller's next call reports it, too. */
        logger_write(log, SWAGG_LOG_INFO, "job '%s': %s", s->cfg.join.name, s->failure.text);
        break;
    default:
        break;
    }
}

/* Wakes the caller if something has changed since it was last woken; true if the change is worth a line in
 * the log. */
static bool announce(struct membership *m)
{
    const struct ctl_session *s = &m->session;
    bool news = s->state != m->seen.state || s->generation != m->seen.generation;
    if (!news && m->fds_closed == m->seen.fds_closed && s->all_finished == m->seen.all_finished)
        return false;
    m->seen.state = s->state;
    m->seen.generation = s->generation;
    m->seen.fds_closed = m->fds_closed;
    m->seen.all_finished = s->all_finished;
    atomic_store(&m->changed, true);
    waker_wake(m->wake_caller);
    return news;
}

/* What has changed for the program; 0: nothing. */
static enum membership_news look_for_news(struct membership *m, const struct ctl_session *s, bool changed)
{
    const bool silent =
        s->state == CTL_SESSION_READY && ctl_session_silence(s) > s->ready.lost_after_ms * NS_PER_MS / 2;
    const bool lost = silent || s->state == CTL_SESSION_REJOINING;
    if (changed && s->state == CTL_SESSION_FAILED)
        return MEMBERSHIP_FAILED;
    if (lost == m->lost || (!lost && s->state != CTL_SESSION_READY))
        return 0;
    m->lost = lost;
    return silent ? MEMBERSHIP_SILENT : lost ? MEMBERSHIP_RESTARTED : MEMBERSHIP_BACK;
}

/* One turn of the session; returns when the next is due. The log is the caller's code and is called without
 * the lock. */
static uint64_t turn(struct membership *m)
{
    struct ctl_session copy;
    pthread_mutex_lock(&m->lock);
    receive_all(m);
    send_due(m, monotonic_ns());
    bool changed = announce(m);
    enum membership_news news = look_for_news(m, &m->session, changed);
    if (changed || news)
        copy = m->session;
    uint64_t next = is_held_back(m) ? UINT64_MAX : ctl_session_timer(&m->session);
    const struct client_node *node = m->node;
    pthread_mutex_unlock(&m->lock);
    if (changed)
        log_news(m, node, &copy);
    if (news)
        m->hearer.hear(m->hearer.ctx, news, &copy);
    return next;
}

/* What the thread sleeps on. False: it is not there any more, as the last turn has seen. */
static bool look_for(struct membership *m, bool guest_waits, struct pollfd fds[3])
{
    pthread_mutex_lock(&m->lock);
    fds[0] = (struct pollfd){.fd = m->socket.fd, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = m->wake_thread.sleeper.fd, .events = POLLIN};
    fds[2] = (struct pollfd){.fd = guest_waits ? m->guest.fd : -1, .events = POLLIN};
    const bool there = !m->fds_closed;
    pthread_mutex_unlock(&m->lock);
    return there;
}

static void *run(void *arg)
{
    struct membership *m = arg;
    while (!atomic_load(&m->stop)) {
        uint64_t next = turn(m), guest_next = m->guest.turn(m->guest.ctx), now = monotonic_ns();
        struct pollfd fds[3];
        if (!look_for(m, guest_next != UINT64_MAX, fds))
            break;
        next = next < guest_next ? next : guest_next;
        uint64_t latest = now + SLEEP_MAX_MS * NS_PER_MS;
        struct timespec timeout = timespec_until(next < latest ? next : latest, now);
        ppoll(fds, 3, &timeout, NULL);
        if (fds[1].revents)
            waker_drain(&m->wake_thread);
    }
    return NULL;
}

static int connect_to(struct network *n, struct in_addr switch_ip, struct sockaddr_in *local)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = switch_ip, .sin_port = htons(CTL_PORT)};
    return n->ops->connect(n, &to, local);
}

static int open_fds(struct membership *m, struct network *n, struct in_addr switch_ip,
                    struct sockaddr_in *local)
{
    int fd = connect_to(n, switch_ip, local);
    if (fd < 0)
        return fd;
    m->socket = own_fd_of(fd);
    return waker_open(&m->wake_thread);
}

static void close_fds(struct membership *m)
{
    own_fd_close(&m->socket);
    waker_close(&m->wake_thread);
}

/* What messages are sealed with. local: the socket's address. */
static struct ctl_credentials credentials_of(const struct keys_key *key, const struct sockaddr_in *local)
{
    return (struct ctl_credentials){
        .library = keys_sodium(),
        .key = *key,
        .address = {.ip = local->sin_addr.s_addr, .udp_port = ntohs(local->sin_port)}};
}

int membership_open(struct membership *m, const struct membership_parts *parts)
{
    struct ctl_session_config config = *parts->config;
    *m = (struct membership){.log = parts->log,
                             .worker = parts->worker,
                             .guest = parts->guest,
                             .hearer = parts->hearer,
                             .socket = OWN_FD_NONE,
                             .wake_thread = WAKER_NONE,
                             .wake_caller = parts->wake_caller,
                             .node = parts->node};
    pthread_mutex_init(&m->lock, NULL);
    struct sockaddr_in local;
    int rc = open_fds(m, parts->network, parts->node->ip, &local);
    if (rc < 0)
        goto err;
    if (parts->key)
        m->credentials = credentials_of(parts->key, &local);
    config.credentials = parts->key ? &m->credentials : NULL;
    ctl_session_init(&m->session, &config, monotonic_ns());
    if ((rc = own_thread_start(&m->thread, run, m)) < 0)
        goto err;
    return 0;
err:
    close_fds(m);
    pthread_mutex_destroy(&m->lock);
    return rc;
}

/* Sends what the caller has told the session at once, so that it goes out even if the process ends right
 * after. */
static void unlock_and_send(struct membership *m)
{
    send_due(m, monotonic_ns());
    pthread_mutex_unlock(&m->lock);
    waker_wake(&m->wake_thread);
}

int membership_move(struct membership *m, struct network *network, const struct client_node *to,
                    const struct ctl_session_config *config, const struct ctl_failure *why, int guest_fd)
{
    struct ctl_session_config here = *config;
    struct sockaddr_in local;
    int fd = connect_to(network, to->ip, &local);
    if (fd < 0)
        return fd;
    pthread_mutex_lock(&m->lock);
    const struct ctl_heartbeat told = m->session.heartbeat;
    ctl_session_abort(&m->session, why, monotonic_ns());
    m->streaming = false;
    send_due(m, monotonic_ns());
    own_fd_close(&m->socket);
    m->socket = own_fd_of(fd);
    m->guest.fd = guest_fd;
    m->node = to;
    m->lost = false;
    m->trouble = 0;
    here.credentials = m->session.cfg.credentials;
    if (here.credentials)
        m->credentials = credentials_of(&m->credentials.key, &local);
    ctl_session_init(&m->session, &here, monotonic_ns());
    m->session.heartbeat = told;
    unlock_and_send(m);
    return 0;
}

const struct keys_key *membership_key(const struct membership *m)
{
    return m->session.cfg.credentials ? &m->credentials.key : NULL;
}

void membership_stop(struct membership *m)
{
    atomic_store(&m->stop, true);
    waker_wake(&m->wake_thread);
    pthread_join(m->thread, NULL);
}

void membership_close(struct membership *m)
{
    close_fds(m);
    pthread_mutex_destroy(&m->lock);
}

void membership_abandon(struct membership *m)
{
    close_fds(m);
}

bool membership_changed(struct membership *m)
{
    return atomic_load(&m->changed) && atomic_exchange(&m->changed, false);
}

void membership_look(struct membership *m, struct ctl_session *session)
{
    pthread_mutex_lock(&m->lock);
    *session = m->session;
    pthread_mutex_unlock(&m->lock);
}

void membership_hear(struct membership *m, struct ctl_session *session)
{
    pthread_mutex_lock(&m->lock);
    receive_all(m);
    *session = m->session;
    pthread_mutex_unlock(&m->lock);
    waker_wake(&m->wake_thread); /* it has to answer what was received, and to tell of it */
}

unsigned membership_unproven(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    unsigned unproven = m->session.unproven;
    pthread_mutex_unlock(&m->lock);
    return unproven;
}

int membership_trouble(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    int trouble = m->trouble;
    pthread_mutex_unlock(&m->lock);
    return trouble;
}

bool membership_fds_are_closed(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    bool fds_closed = fds_are_closed(m);
    pthread_mutex_unlock(&m->lock);
    return fds_closed;
}

void membership_wake(struct membership *m)
{
    waker_wake(&m->wake_thread);
}

void membership_progress(struct membership *m, const struct ctl_heartbeat *progress, bool streaming)
{
    pthread_mutex_lock(&m->lock);
    bool held_back = is_held_back(m);
    m->session.heartbeat = *progress;
    m->streaming = streaming;
    bool released = held_back && !is_held_back(m);
    pthread_mutex_unlock(&m->lock);
    if (released)
        waker_wake(&m->wake_thread);
}

bool membership_all_have_finished(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    const bool known = m->session.all_finished;
    ctl_session_ask(&m->session, monotonic_ns());
    unlock_and_send(m);
    return known;
}

void membership_rejected(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    ctl_session_rejected(&m->session, monotonic_ns());
    unlock_and_send(m);
}

void membership_abort(struct membership *m, enum ctl_reason reason, unsigned rank, const char *text)
{
    struct ctl_failure why = {.reason = (uint16_t)reason, .rank = (uint16_t)rank};
    strncpy(why.text, text, sizeof why.text - 1);
    pthread_mutex_lock(&m->lock);
    ctl_session_abort(&m->session, &why, monotonic_ns());
    unlock_and_send(m);
}

void membership_leave(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    ctl_session_leave(&m->session, monotonic_ns());
    unlock_and_send(m);
}

/* Whether a switch that was heard is being told something, and has not answered yet. */
static bool is_telling(struct membership *m, enum ctl_session_state state)
{
    pthread_mutex_lock(&m->lock);
    const bool telling = m->session.state == state && m->session.boot_id != 0 && !fds_are_closed(m);
    pthread_mutex_unlock(&m->lock);
    return telling;
}

bool membership_is_aborting(struct membership *m)
{
    return is_telling(m, CTL_SESSION_ABORTING);
}

bool membership_is_leaving(struct membership *m)
{
    return is_telling(m, CTL_SESSION_LEAVING);
}
