#include "local/meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "monotonic.h"
#include "own_thread.h"
#include "random/splitmix.h"

enum {
    ANSWER_MS = 5000,   /* a leader that is silent for so long is not waited for; nor one that comes */
    ATTEMPT_MS = 1,     /* between attempts to lead or to meet who leads: it may be between bind and listen */
    LOOK_EVERY_MS = 50, /* whether the leader lives */
    DEAF_MS = 10,       /* to who comes, where no descriptor is left for him: he would wake it again */
    MAGIC = 0x53574c31,
};

/* What two ranks say to each other, in this order. */
struct hello {
    uint32_t magic, version;
    uint64_t job;
    uint16_t rank, size;
    uint32_t zero;
};
static_assert(sizeof(struct hello) == 24, "no bytes that nobody writes");

enum verdict { WELCOME, OTHER_JOB, OTHER_VERSION, OTHER_USER, SAME_PROCESS };

struct welcome { /* with the memory's descriptor, if it is that */
    uint32_t magic, verdict;
    uint32_t leader;
};

struct proof {
    uint64_t id;
};

static const char *const verdicts[] = {
    [OTHER_JOB] = "who leads there is in another job",
    [OTHER_VERSION] = "who leads there has another version of libswagg",
    [OTHER_USER] = "who leads there is another user's process",
    [SAME_PROCESS] = "another rank of this very process is there",
};

/* The same for all ranks of the job, and for no other job. */
static uint64_t hash_of(const struct client_options *o)
{
    const uid_t user = geteuid();
    uint64_t hash = splitmix_bytes(o->size, o->job, strlen(o->job));
    hash = splitmix_bytes(hash, &user, sizeof user);
    for (unsigned i = 0; i < o->in_switch.n; i++)
        hash = splitmix_bytes(hash, &o->in_switch.at[i].ip, sizeof o->in_switch.at[i].ip);
    for (unsigned i = 0; i < o->in_servers.n; i++)
        hash = splitmix_bytes(hash, &o->in_servers.at[i].ip, sizeof o->in_servers.at[i].ip);
    return hash;
}

/* Returns the address's length; 0: the directory's name is too long. */
static socklen_t address_of(struct meeting *m, const char *directory, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    const size_t before = offsetof(struct sockaddr_un, sun_path);
    int n;
    if (directory[0] == '\0') {
        n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "swagg-%016llx", (unsigned long long)m->job);
        return (socklen_t)(before + 1 + (size_t)n);
    }
    n = snprintf(a->sun_path, sizeof a->sun_path, "%s/swagg-%016llx", directory, (unsigned long long)m->job);
    if (n >= (int)sizeof a->sun_path)
        return 0;
    memcpy(m->path, a->sun_path, sizeof m->path);
    return (socklen_t)sizeof *a;
}

static int open_socket(void)
{
    const struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    }
    return fd;
}

static bool peer_of(int fd, struct ucred *peer)
{
    socklen_t bytes = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &bytes) == 0;
}

static bool say(int fd, const void *bytes, size_t n)
{
    return send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* A wait with a limit ends at every signal, and when the process was stopped (signal(7)): it goes on, and
 * once its time is over looks without waiting. errno is 0 where the other one has closed its end. */
static ssize_t receive(int fd, struct msghdr *message)
{
    const uint64_t until = monotonic_ns() + ANSWER_MS * NS_PER_MS;
    int flags = MSG_CMSG_CLOEXEC;
    ssize_t n;
    errno = 0;
    while ((n = recvmsg(fd, message, flags)) < 0 && errno == EINTR)
        flags |= monotonic_ns() < until ? 0 : MSG_DONTWAIT;
    return n;
}

static bool hear(int fd, void *bytes, size_t n)
{
    struct iovec room = {.iov_base = bytes, .iov_len = n};
    struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1};
    return receive(fd, &message) == (ssize_t)n;
}

/* --- who leads --- */

/* A process that cannot be seen from here, in another container, has number 0: it may be any. */
static bool is_there(const struct meeting *m, pid_t process, unsigned as)
{
    for (unsigned rank = 0; rank < m->size; rank++)
        if (m->processes[rank] == process && process != 0 && rank != as)
            return true;
    return false;
}

static enum verdict judge(const struct meeting *m, pid_t process, const struct hello *h)
{
    if (h->magic != MAGIC || h->version != LOCAL_VERSION)
        return OTHER_VERSION;
    if (h->job != m->job || h->size != m->size || h->rank >= m->size)
        return OTHER_JOB;
    return is_there(m, process, h->rank) ? SAME_PROCESS : WELCOME;
}

static bool say_welcome(const struct meeting *m, int fd, enum verdict verdict)
{
    struct welcome w = {.magic = MAGIC, .verdict = verdict, .leader = m->rank};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {.iov_base = &w, .iov_len = sizeof w};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (verdict == WELCOME) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        *c = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
        memcpy(CMSG_DATA(c), &m->memory.file.fd, sizeof(int));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof w;
}

/* One who comes. He shows that he has mapped the memory, and hears that this was seen: after that he says so
 * to the job's other ranks. Other users are not listened to. */
static void meet_one(struct meeting *m, int fd)
{
    const struct timeval patience = {.tv_sec = ANSWER_MS / 1000};
    struct ucred peer;
    struct hello h;
    struct proof p;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!peer_of(fd, &peer) || peer.uid != geteuid()) {
        say_welcome(m, fd, OTHER_USER);
        return;
    }
    if (!hear(fd, &h, sizeof h))
        return;
    const enum verdict verdict = judge(m, peer.pid, &h);
    if (say_welcome(m, fd, verdict) && verdict == WELCOME && hear(fd, &p, sizeof p) &&
        p.id == m->memory.board->id) {
        m->processes[h.rank] = peer.pid;
        say(fd, &p, sizeof p);
    }
}

static void *meet(void *arg)
{
    struct meeting *m = arg;
    for (;;) {
        struct pollfd fds[] = {{.fd = m->stop.sleeper.fd, .events = POLLIN},
                               {.fd = m->listener, .events = POLLIN}};
        poll(fds, 2, -1);
        if (fds[0].revents)
            return NULL;
        const int fd = fds[1].revents ? accept4(m->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0) {
            meet_one(m, fd);
            close(fd);
        } else if (fds[1].revents) {
            poll(fds, 1, DEAF_MS);
        }
    }
}

static int start_thread(struct meeting *m)
{
    int rc = waker_open(&m->stop);
    if (rc < 0)
        return rc;
    rc = own_thread_start(&m->thread, meet, m);
    m->thread_runs = rc == 0;
    return rc;
}

static int lead(struct meeting *m)
{
    int rc =
        memory_make(&m->memory, local_board_bytes(m->size, LOCAL_BLOCK_BYTES), local_board_head(m->size));
    m->leads = true;
    m->leader = m->rank;
    m->processes = calloc(m->size, sizeof *m->processes);
    if (rc == 0 && !m->processes)
        rc = -ENOMEM;
    if (rc == 0)
        rc = memory_live_as(&m->memory, m->rank);
    if (rc == 0 && listen(m->listener, SOMAXCONN) < 0)
        rc = -errno;
    if (rc < 0)
        return rc;
    m->processes[m->rank] = getpid();
    return start_thread(m);
}

/* --- who comes after --- */

/* The leader's answer did not come: errno says why. */
static void say_no_answer(struct meeting *m)
{
    if (errno == EAGAIN)
        snprintf(m->why, sizeof m->why, "who leads there has not answered within %d s", ANSWER_MS / 1000);
    else
        snprintf(m->why, sizeof m->why, "who leads there has gone");
}

/* There is no memory in it. The kernel leaves out what no number is free for. */
static void say_why(struct meeting *m, const struct welcome *w, bool is_answer)
{
    const bool is_known = is_answer && w->verdict < sizeof verdicts / sizeof *verdicts;
    if (is_known && verdicts[w->verdict])
        snprintf(m->why, sizeof m->why, "%s", verdicts[w->verdict]);
    else if (is_known)
        snprintf(m->why, sizeof m->why,
                 "the descriptor of its memory did not come: this process has as many open as it may "
                 "(ulimit -n)");
    else
        snprintf(m->why, sizeof m->why, "who leads there answers in words that this libswagg does not know");
}

/* The leader's answer: its descriptor, or -1, and why. */
static int hear_welcome(struct meeting *m, int fd)
{
    struct welcome w = {0};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {.iov_base = &w, .iov_len = sizeof w};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t n = receive(fd, &message);
    if (n <= 0) {
        say_no_answer(m);
        return -1;
    }
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    int memory = -1;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(&memory, CMSG_DATA(c), sizeof memory);
    if (memory >= 0 && n == sizeof w && w.magic == MAGIC && w.verdict == WELCOME && w.leader < m->size) {
        m->leader = (uint16_t)w.leader;
        return memory;
    }
    if (memory >= 0)
        close(memory);
    say_why(m, &w, n == sizeof w && w.magic == MAGIC);
    return -1;
}

/* Maps the memory that this descriptor is of, and lives there as this rank. False: why says why not. */
static bool take_seat(struct meeting *m, int fd)
{
    int rc = memory_take(&m->memory, fd, local_board_head(m->size));
    if (rc < 0)
        snprintf(m->why, sizeof m->why, "its memory cannot be mapped: %s", strerror(-rc));
    else if ((rc = memory_live_as(&m->memory, m->rank)) == -EAGAIN || rc == -EACCES)
        snprintf(m->why, sizeof m->why, "another process is rank %u there", m->rank);
    else if (rc < 0)
        snprintf(m->why, sizeof m->why, "its memory cannot be locked: %s", strerror(-rc));
    return rc == 0;
}

/* This rank is to be seen living before it is believed. */
static void take_part(struct meeting *m, int fd)
{
    const struct hello h = {
        .magic = MAGIC, .version = LOCAL_VERSION, .job = m->job, .rank = m->rank, .size = m->size};
    struct ucred peer;
    if (!peer_of(fd, &peer) || peer.uid != geteuid()) {
        snprintf(m->why, sizeof m->why, "%s", verdicts[OTHER_USER]);
        return;
    }
    if (!say(fd, &h, sizeof h)) {
        say_no_answer(m);
        return;
    }
    const int memory = hear_welcome(m, fd);
    if (memory < 0 || !take_seat(m, memory))
        return;
    struct proof p = {.id = m->memory.board->id};
    if (p.id == 0 || !say(fd, &p, sizeof p) || !hear(fd, &p, sizeof p))
        say_no_answer(m);
}

/* --- either --- */

/* A socket's file may be that of a leader that was killed. One process at a time looks, removes it and makes
 * another one: none is removed that has just been made. Returns the lock; -1: another process has it, or
 * errno says why there is none. */
static int lock_directory(const char *directory)
{
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Also for a child that was forked meanwhile. */
static void unlock_directory(int fd)
{
    if (fd < 0)
        return;
    flock(fd, LOCK_UN);
    close(fd);
}

enum place { LEADS, FOLLOWS, NOWHERE };

/* NOWHERE: errno says why. With the directory's lock, if there is one. */
static enum place find_place(const struct meeting *m, int fd, const struct sockaddr_un *address,
                             socklen_t bytes)
{
    const struct sockaddr *at = (const struct sockaddr *)address;
    if (bind(fd, at, bytes) == 0)
        return LEADS;
    if (errno != EADDRINUSE)
        return NOWHERE;
    if (connect(fd, at, bytes) == 0)
        return FOLLOWS;
    if (errno == ECONNREFUSED && m->path[0] != '\0' && unlink(m->path) == 0 && bind(fd, at, bytes) == 0)
        return LEADS;
    return NOWHERE;
}

static void become_leader(struct meeting *m, int fd)
{
    m->listener = fd;
    const int rc = lead(m);
    if (rc < 0)
        snprintf(m->why, sizeof m->why, "no memory to share: %s%s", strerror(-rc),
                 rc == -EFBIG ? " (ulimit -f)" : "");
}

/* True: it is known whether this rank leads, takes part or is alone; or m->why has become why that is not
 * known yet. */
static bool attempt(struct meeting *m, const char *directory, const struct sockaddr_un *address,
                    socklen_t bytes)
{
    const int lock = m->path[0] != '\0' ? lock_directory(directory) : -1;
    if (m->path[0] != '\0' && lock < 0) {
        snprintf(m->why, sizeof m->why, "no lock on the directory %.100s: %s", directory, strerror(errno));
        return errno != EWOULDBLOCK;
    }
    const int fd = open_socket();
    const enum place place = fd < 0 ? NOWHERE : find_place(m, fd, address, bytes);
    const int error = errno;
    m->why[0] = '\0';
    if (place == LEADS)
        become_leader(m, fd);
    unlock_directory(lock);
    if (place == LEADS)
        return true;
    if (place == FOLLOWS)
        take_part(m, fd);
    else
        snprintf(m->why, sizeof m->why, "nobody leads, and this rank cannot: %s", strerror(error));
    if (fd >= 0)
        close(fd);
    return place == FOLLOWS || error != ECONNREFUSED;
}

static void go_alone(struct meeting *m)
{
    meeting_end(m);
    memory_close(&m->memory);
}

void meeting_begin(struct meeting *m, const struct client_options *o)
{
    struct sockaddr_un address;
    *m = (struct meeting){.memory = MEMORY_NONE,
                          .rank = o->rank,
                          .size = o->size,
                          .listener = -1,
                          .stop = WAKER_NONE,
                          .job = hash_of(o)};
    const socklen_t bytes = address_of(m, o->local.directory, &address);
    if (bytes == 0) {
        snprintf(m->why, sizeof m->why, "the directory's name is too long for a socket in it");
        return;
    }
    const uint64_t until = monotonic_ns() + ANSWER_MS * NS_PER_MS;
    while (!attempt(m, o->local.directory, &address, bytes) && monotonic_ns() < until) {
        const struct timespec pause = {.tv_nsec = ATTEMPT_MS * (long)NS_PER_MS};
        nanosleep(&pause, NULL);
    }
    if (m->why[0] != '\0')
        go_alone(m);
}

void meeting_end(struct meeting *m)
{
    if (m->thread_runs) {
        waker_wake(&m->stop);
        pthread_join(m->thread, NULL);
        m->thread_runs = false;
    }
    waker_close(&m->stop);
    if (m->listener >= 0) {
        if (m->path[0] != '\0')
            unlink(m->path); /* while it is ours: who finds nobody at it removes it */
        close(m->listener);
    }
    m->listener = -1;
    free(m->processes);
    m->processes = NULL;
}

static struct ctl_ranks missing_of(const struct meeting *m)
{
    struct ctl_ranks set = {0};
    for (unsigned rank = 0; rank < m->size; rank++)
        if (atomic_load(&m->memory.board->seats[rank].state.value) == LOCAL_AWAITED)
            ctl_ranks_add(&set, rank);
    return set;
}

/* The word that changes when one more has come; NULL: all have. */
static struct local_word *next_to_come(struct meeting *m)
{
    struct local_board *board = m->memory.board;
    if (!m->leads)
        return atomic_load(&board->open.value) ? NULL : &board->open;
    for (unsigned rank = 0; rank < m->size; rank++)
        if (atomic_load(&board->seats[rank].state.value) == LOCAL_AWAITED)
            return &board->seats[rank].state;
    return NULL;
}

static void proclaim(struct local_board *board, enum local_opening opening)
{
    atomic_store(&board->open.value, (uint32_t)opening);
    memory_wake(&board->open);
}

/* Where the leader does, the others hear it before they see that it has gone. Another one is missing from now
 * on. */
static int give_up(struct meeting *m, struct ctl_ranks *missing)
{
    *missing = missing_of(m);
    if (m->leads)
        proclaim(m->memory.board, LOCAL_GIVEN_UP);
    else
        atomic_store(&m->memory.board->seats[m->rank].state.value, LOCAL_AWAITED);
    return -ETIMEDOUT;
}

/* Only when nobody else is met is the meeting open to those who have come: the next job of this name meets
 * anew. */
int meeting_of_all(struct meeting *m, uint64_t deadline, struct ctl_ranks *missing)
{
    struct local_board *board = m->memory.board;
    struct local_word *word;
    atomic_store(&board->seats[m->rank].state.value, LOCAL_SEATED);
    memory_wake(&board->seats[m->rank].state);
    while ((word = next_to_come(m)) != NULL) {
        if (monotonic_ns() >= deadline)
            return give_up(m, missing);
        memory_sleep(word, 0, LOOK_EVERY_MS * NS_PER_MS);
        if (!m->leads && !memory_lives(&m->memory, m->leader) && next_to_come(m) != NULL) {
            *missing = (struct ctl_ranks){0};
            ctl_ranks_add(missing, m->leader);
            return -ESRCH;
        }
    }
    meeting_end(m);
    if (m->leads)
        proclaim(board, LOCAL_OPEN);
    return atomic_load(&board->open.value) == LOCAL_GIVEN_UP ? give_up(m, missing) : 0;
}

void meeting_close(struct meeting *m)
{
    meeting_end(m);
    memory_close(&m->memory);
}
