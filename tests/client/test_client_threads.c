/* What libswagg does where its threads get their CPU in an unlucky order, which is made here, and in which
 * order it calls the system: its calls of recv, accept4 and pthread_join, recvmmsg, sendmmsg and poll come by
 * this file (--wrap). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "crew.h"
#include "local/meeting.h"
#include "monotonic.h"
#include "unit.h"

ssize_t __real_recv(int fd, void *buffer, size_t bytes, int flags);
int __real_pthread_join(pthread_t thread, void **result);
int __real_recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout);
int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __real_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t bytes, int flags);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags);

/* The membership thread stands still, as it seems, from its first look at its socket on, until the thread
 * that opens the job has received what came there. */
static struct {
    pthread_t opener;
    atomic_bool on, begun, over;
} standstill;

ssize_t __wrap_recv(int fd, void *buffer, size_t bytes, int flags)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    if (!standstill.on || atomic_load(&standstill.over))
        return __real_recv(fd, buffer, bytes, flags);
    if (!pthread_equal(pthread_self(), standstill.opener)) {
        atomic_store(&standstill.begun, true);
        sleep_ms(1);
        errno = EAGAIN;
        return -1;
    }
    if (atomic_load(&standstill.begun)) {
        poll(&answer, 1, -1);
        atomic_store(&standstill.over, true);
    }
    return __real_recv(fd, buffer, bytes, flags);
}

/* Of whoever has been silent while this process stood still, an answer may be here. */
static bool opens_by_an_answer_that_waits(int deadline_ms)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(1, ls, "still", crew_sum_once, NULL);
    struct swagg_options o = crew.options;
    struct swagg_job *job = NULL;
    float x = 1;
    o.size = 1;
    o.answer_timeout_ms = deadline_ms;
    standstill.opener = pthread_self();
    standstill.begun = standstill.over = false;
    standstill.on = true;
    const bool open = swagg_open(&job, &o) == SWAGG_OK;
    standstill.on = false;
    CU_ASSERT(!open || swagg_allreduce(job, &x, &x, 1, SWAGG_F32, SWAGG_SUM) == SWAGG_OK);
    swagg_close(job);
    loop_switch_stop(ls);
    return open;
}

TEST(an_answer_that_waits_in_the_socket_counts)
{
    crew_give_up(opens_by_an_answer_that_waits);
}

/* Of this thread, since its call began. */
static _Thread_local struct {
    unsigned sent, received_before;
} order;

/* The socket of this thread's calls takes nothing, and its waits for room are cut short by signals. */
static _Thread_local bool stuck;

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    order.sent++;
    if (!stuck)
        return __real_sendmmsg(fd, messages, n, flags);
    errno = EAGAIN;
    return -1;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    if (!stuck)
        return __real_poll(fds, n, ms);
    errno = EINTR;
    return -1;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout)
{
    order.received_before += order.sent == 0;
    return __real_recvmmsg(fd, messages, n, flags, timeout);
}

static int sum_and_look(struct crew_member *m)
{
    for (int i = 0; i < 10; i++) {
        float x = 1;
        memset(&order, 0, sizeof order);
        const int rc = swagg_allreduce(m->job, &x, &x, 1, SWAGG_F32, SWAGG_SUM);
        if (rc < 0)
            return rc;
        if (order.sent == 0 || order.received_before > 0)
            return WRONG_SUM;
    }
    return SWAGG_OK;
}

TEST(a_call_leaves_before_its_sum_is_looked_for)
{
    crew_succeed_alone(&(struct loop_switch_config){.seed = seed}, 1, "order", sum_and_look, NULL);
}

static int sum_while_stuck(struct crew_member *m)
{
    float x = 1;
    stuck = true;
    const int rc = swagg_allreduce(m->job, &x, &x, 1, SWAGG_F32, SWAGG_SUM);
    stuck = false;
    return rc == SWAGG_ERR_DEADLINE ? SWAGG_OK : SWAGG_ERR_SYSTEM;
}

TEST(a_call_keeps_its_deadline_amid_signals)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(1, ls, "stuck", sum_while_stuck, NULL);
    crew.options.call_timeout_ms = 300;
    crew_succeed(&crew);
    loop_switch_stop(ls);
}

/* No descriptor is left for who comes; so often he was to have one. */
static atomic_bool full;
static atomic_uint accepted;

int __wrap_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags)
{
    if (!atomic_load(&full))
        return __real_accept4(fd, from, bytes, flags);
    atomic_fetch_add(&accepted, 1);
    errno = EMFILE;
    return -1;
}

static int come_to(const struct meeting *m)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int n =
        snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "swagg-%016llx", (unsigned long long)m->job);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&at,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)),
                    0);
    return fd;
}

TEST(who_leads_a_meeting_without_descriptors_does_not_spin)
{
    enum { PAUSE_MS = 300, RARELY_MS = 5 }; /* it looks once in so long, at most */
    static struct client_options o = {.size = 2};
    struct meeting m;
    snprintf(o.job, sizeof o.job, "full-%d", (int)getpid());
    meeting_begin(&m, &o);
    CU_ASSERT(m.leads && m.memory.board);
    atomic_store(&full, true);
    const int fd = come_to(&m);
    while (atomic_load(&accepted) == 0)
        sleep_ms(1);
    const uint64_t began = monotonic_ns();
    const unsigned before = atomic_load(&accepted);
    sleep_ms(PAUSE_MS);
    const unsigned looked = atomic_load(&accepted) - before;
    CU_ASSERT(looked <= 1 + (monotonic_ns() - began) / (RARELY_MS * NS_PER_MS));
    atomic_store(&full, false);
    close(fd);
    meeting_close(&m);
}

/* How many there are whenever swagg_close waits for a thread's end. */
static struct {
    bool on;
    int n, open[SWAGG_SERVERS_MAX];
} joins;

int __wrap_pthread_join(pthread_t thread, void **result)
{
    if (joins.on && joins.n < SWAGG_SERVERS_MAX)
        joins.open[joins.n++] = descriptors();
    return __real_pthread_join(thread, result);
}

/* Each may look at all parts of the job. */
TEST(nothing_of_a_job_is_closed_before_all_its_threads_have_ended)
{
    struct loop_switch *first = loop_switch_start(&(struct loop_switch_config){.seed = seed}),
                       *second = loop_switch_start(&(struct loop_switch_config){.seed = seed + 1});
    struct crew crew = crew_at(1, NULL, "parts", crew_sum_once, NULL);
    struct swagg_options o = crew.options;
    struct swagg_job *job = NULL;
    char list[64];
    snprintf(list, sizeof list, "%s,%s", loop_switch_ip(first), loop_switch_ip(second));
    o.size = 1;
    o.protocol = SWAGG_PROTOCOL_ATP;
    o.server_ip = list;
    CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_OK);
    joins.on = true;
    swagg_close(job);
    joins.on = false;
    CU_ASSERT_EQUAL(joins.n, 2);
    CU_ASSERT_EQUAL(joins.open[1], joins.open[0]);
    loop_switch_stop(first);
    loop_switch_stop(second);
}
