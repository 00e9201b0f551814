/* swagg-ps as its operators have it: what they change, what they are told, and what nobody can do to its log.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "control/session.h"
#include "crew.h"
#include "ps_process.h"
#include "switchml/terms.h"
#include "switchml/worker.h"
#include "unit.h"

EACH_TEST(start_server, stop_server)

static void begin_again_with(const char *more)
{
    ps_kill(&the_server);
    ps_configure(&the_server, more);
    ps_start(&the_server);
}

/* It is told to end: then a line that is not there is not waited for. */
static void expect_last_words(const char *words)
{
    kill(the_server.pid, SIGTERM);
    ps_await(&the_server, words);
}

/* A reload takes it back to the file's, and says so. */
TEST(the_level_of_the_log_is_changed)
{
    static const char *const asked[][2] = {
        {"\"log level\", \"level\": \"loud\"", "loud is no log level; there are: error, warning"},
        {"\"log level\", \"level\": \"debug\"", "\"ok\":true"},
        {"\"status\"", "\"log_level\":\"debug\""},
        {"\"reload\"", "\"key\":\"log_level\",\"from\":\"debug\",\"to\":\"notice\""},
        {"\"status\"", "\"log_level\":\"notice\""},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        CU_ASSERT(ps_answers(&the_server, asked[i][0], asked[i][1]));
    expect_last_words("log level set to debug by the operator");
}

/* A job of one rank. */
static int open_job(const char *name, struct swagg_job **job)
{
    const struct swagg_options options = {.struct_size = sizeof options,
                                          .switch_ip = the_server.ip,
                                          .job = name,
                                          .size = 1,
                                          .mtu = 1500,
                                          .answer_timeout_ms = 300000,
                                          .join_timeout_ms = 300000};
    return swagg_open(job, &options);
}

static struct swagg_job *expect_open(const char *name)
{
    struct swagg_job *job = NULL;
    CU_ASSERT_EQUAL_FATAL(open_job(name, &job), 0);
    return job;
}

static bool sums(struct swagg_job *job)
{
    float x[1000] = {1, 2, 3};
    return swagg_allreduce(job, x, x, 1000, SWAGG_F32, SWAGG_SUM) == 0 && x[2] == 3;
}

/* The level that an operator has set, limits and jobs are as before, and the next file counts whole. */
TEST(a_file_that_is_not_good_changes_nothing)
{
    begin_again_with("limits: {jobs: 4}\n");
    struct swagg_job *first = expect_open("first"), *second = expect_open("second"), *refused;
    CU_ASSERT(ps_answers(&the_server, "\"log level\", \"level\": \"debug\"", "\"ok\":true"));
    ps_configure(&the_server, "limits: {jobs: 1}\nlog_level: error\npool: {slots_per_job: 2}\n");
    kill(the_server.pid, SIGHUP);
    ps_await(&the_server, "limits.jobs: 1 are too few for the 2 jobs that there are");
    ps_await(&the_server, "nothing has changed");
    CU_ASSERT(ps_answers(&the_server, "\"reload\"", "limits.jobs: 1 are too few"));
    CU_ASSERT(ps_answers(&the_server, "\"status\"", "\"log_level\":\"debug\""));
    struct swagg_job *third = expect_open("third");
    CU_ASSERT(ps_answers(&the_server, "\"job\", \"name\": \"third\"", "\"slots\":1024"));
    ps_configure(&the_server, "limits: {jobs: 3}\nlog_level: warning\npool: {megabytes: 1}\n");
    CU_ASSERT(
        ps_answers(&the_server, "\"reload\"", "\"key\":\"log_level\",\"from\":\"debug\",\"to\":\"warning\""));
    CU_ASSERT(ps_answers(&the_server, "\"status\"", "\"log_level\":\"warning\""));
    CU_ASSERT(ps_counted(&the_server, "status", "\"pool_bytes_in_use\"") > 1 << 20); /* who has it keeps it */
    CU_ASSERT(sums(first) && sums(second) && sums(third));
    CU_ASSERT_EQUAL(open_job("fourth", &refused), SWAGG_ERR_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "limits.jobs"));
    swagg_close(first);
    swagg_close(second);
    swagg_close(third);
}

/* What an operator has set ends with the process; the file is what the next one has. */
TEST(a_restart_is_by_the_file)
{
    begin_again_with("log_level: info\n");
    CU_ASSERT(ps_answers(&the_server, "\"log level\", \"level\": \"debug\"", "\"ok\":true"));
    ps_kill(&the_server);
    ps_start(&the_server);
    CU_ASSERT(ps_answers(&the_server, "\"status\"", "\"log_level\":\"info\""));
}

/* SIGINT ends it as SIGTERM does; what means nothing is named. */
TEST(signals_are_heeded)
{
    kill(the_server.pid, SIGUSR1);
    ps_await(&the_server, "signal 10 (User defined signal 1) from process ");
    kill(the_server.pid, SIGIO);
    ps_await(&the_server, "signal 29 (I/O possible) from process ");
    kill(the_server.pid, SIGRTMIN);
    ps_await(&the_server, "(Real-time signal 0) from process ");
    CU_ASSERT(ps_answers(&the_server, "\"status\"", "\"ok\":true"));
    kill(the_server.pid, SIGINT);
    ps_await(&the_server, "stopping: Interrupt");
}

/* A socket for control messages. */
static int connect_to(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(CTL_PORT)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, the_server.ip, &at.sin_addr);
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* A host that floods the control port is heard at a rate; its members are, too, beside that. */
TEST(strangers_are_heard_at_a_rate)
{
    enum { AT_ONCE = 100, FLOOD = 20000, HEARD = 200 }; /* of them, 256 but for those of the job */
    const int fd = connect_to();
    struct swagg_job *job = expect_open("member");
    unsigned sent = 0;
    while (ps_counted(&the_server, "counters", "\"control_rate\":") < AT_ONCE && sent < FLOOD)
        for (unsigned i = 0; i < AT_ONCE; i++)
            sent += send(fd, "stranger", 8, 0) == 8;
    CU_ASSERT(ps_counted(&the_server, "counters", "\"control_rate\":") >= AT_ONCE);
    CU_ASSERT(ps_counted(&the_server, "counters", "\"control_rate\":") + HEARD <= sent);
    CU_ASSERT(sums(job));
    swagg_close(job);
    for (unsigned i = 0; i < 1000 && ps_counted(&the_server, "status", "\"jobs\":") > 0; i++)
        sleep_ms(1); /* close waits for a second only, for a server that stands still */
    CU_ASSERT(ps_answers(&the_server, "\"jobs\"", "\"jobs\":[]")); /* its LEAVE was heard */
    close(fd);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Joins a job of its own by this socket. */
static void become_member(struct ctl_session *s, int fd)
{
    const struct sml_terms wish = {
        .format = XFER_FORMAT_INT32, .slots = 16, .chunk_bytes = 256, .plain = true};
    struct ctl_session_config cfg = {.size = 1,
                                     .incarnation = seed | 1,
                                     .join = {.name = "flood", .data_port = 40001},
                                     .worker = &sml_worker,
                                     .join_deadline_ns = UINT64_C(300000000000)};
    uint8_t message[CTL_MESSAGE_MAX];
    sml_terms_build(&cfg.join.terms, &wish);
    ctl_session_init(s, &cfg, now_ns());
    while (s->state == CTL_SESSION_JOINING) {
        size_t bytes = ctl_session_poll(s, now_ns(), message);
        if (bytes > 0)
            CU_ASSERT_EQUAL(send(fd, message, bytes, 0), (ssize_t)bytes);
        ssize_t n = recv(fd, message, sizeof message, MSG_DONTWAIT);
        if (n > 0)
            ctl_session_receive(s, message, (size_t)n, now_ns());
        else
            sleep_ms(1);
    }
    CU_ASSERT_EQUAL_FATAL(s->state, CTL_SESSION_READY);
}

/* Returns how many HEARTBEATs the socket took. */
static unsigned beat(struct ctl_session *s, int fd, unsigned times)
{
    struct ctl_message m = {.head = {.type = CTL_HEARTBEAT,
                                     .version = CTL_VERSION,
                                     .boot_id = s->boot_id,
                                     .incarnation = s->cfg.incarnation,
                                     .epoch = s->epoch,
                                     .size = 1}};
    uint8_t message[CTL_MESSAGE_MAX];
    unsigned sent = 0;
    for (unsigned i = 0; i < times; i++) {
        m.head.serial = ++s->serial;
        size_t bytes = ctl_build(message, &m);
        sent += send(fd, message, bytes, 0) == (ssize_t)bytes;
    }
    return sent;
}

/* What is more than it has reason to say is dropped before anything is done about it, and so costs the others
 * nothing. */
TEST(a_member_that_floods_is_heard_at_a_rate)
{
    enum { AT_ONCE = 100, DROPPED = 2000, FLOOD = 200000 };
    const int fd = connect_to();
    struct swagg_job *job = expect_open("other");
    struct ctl_session member;
    become_member(&member, fd);
    unsigned sent = 0;
    while (ps_counted(&the_server, "counters", "\"control_member_rate\":") < DROPPED && sent < FLOOD)
        sent += beat(&member, fd, AT_ONCE);
    CU_ASSERT(ps_counted(&the_server, "counters", "\"control_member_rate\":") >= DROPPED);
    CU_ASSERT_EQUAL(ps_counted(&the_server, "counters", "\"control_rate\":"), 0);
    CU_ASSERT(sums(job));
    swagg_close(job);
    CU_ASSERT(ps_answers(&the_server, "\"jobs\"", "\"name\":\"flood\""));
    close(fd);
}

/* Counts the lines about jobs in what there is of the log; tells whether one says that others were left out.
 */
static bool lines_are_left_out(unsigned *about_jobs)
{
    static char text[1 << 16];
    const ssize_t n = read(fileno(the_server.log), text, sizeof text - 1);
    CU_ASSERT_FATAL(n > 0 || (n < 0 && errno == EAGAIN));
    text[n > 0 ? n : 0] = '\0';
    for (const char *at = text; (at = strstr(at, ": job ")); at++)
        ++*about_jobs;
    return strstr(text, " lines about jobs are left out: more than 16 a second on account of one address");
}

/* After AT_ONCE lines there are A_SECOND. Where lines hardly come as fast, none has to be left out: that is
 * enough then. */
TEST(nobody_fills_the_log_by_joining)
{
    enum { AT_ONCE = 1024, A_SECOND = 16 };
    unsigned about_jobs = 0;
    uint64_t seconds = 0;
    bool left_out = false, too_many = false;
    CU_ASSERT_EQUAL_FATAL(fcntl(fileno(the_server.log), F_SETFL, O_NONBLOCK), 0);
    const uint64_t began = now_ns();
    while (!left_out && !too_many && 2 * A_SECOND * seconds < AT_ONCE + about_jobs) {
        swagg_close(expect_open("passing"));
        left_out = lines_are_left_out(&about_jobs);
        seconds = (now_ns() - began) / 1000000000 + 1;
        too_many = about_jobs > AT_ONCE + A_SECOND * seconds;
    }
    CU_ASSERT_FALSE(too_many);
}
