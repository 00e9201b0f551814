/* libswagg in a program that closes descriptors which it did not open: the job ends with an error by its
 * deadline, and files that got their numbers are left alone. Each case is a process of its own: this program,
 * called again. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "own_fd.h"
#include "unit.h"

enum { FIRST = 3, PAIRS = 24 };

/* What the program opens afterwards: sockets that hear whatever is written to them. */
struct others {
    int fd[PAIRS][2];
};

static void open_others(struct others *o)
{
    for (unsigned i = 0; i < PAIRS; i++)
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, o->fd[i]) < 0 || send(o->fd[i][0], "mine", 4, 0) != 4)
            abort();
}

/* All are still open, with their one message unread and no other. */
static bool are_untouched(const struct others *o)
{
    char got[8];
    for (unsigned i = 0; i < PAIRS; i++)
        if (recv(o->fd[i][1], got, sizeof got, MSG_DONTWAIT) != 4 ||
            recv(o->fd[i][1], got, sizeof got, MSG_DONTWAIT) != -1 || errno != EAGAIN ||
            recv(o->fd[i][0], got, sizeof got, MSG_DONTWAIT) != -1 || errno != EAGAIN)
            return false;
    return true;
}

static int complain(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, swagg_last_error());
    return 1;
}

static int sum(struct swagg_job *job)
{
    float data[100] = {1};
    return swagg_allreduce(job, data, data, 100, SWAGG_F32, SWAGG_SUM);
}

/* argv: --rank, the switch, whether a call comes between, whether the numbers are taken. */
static int be_a_rank(char **argv)
{
    bool call = argv[3][0] == '1', take = argv[4][0] == '1';
    char job_name[32]; /* each process leaves one behind */
    snprintf(job_name, sizeof job_name, "robbed-%d", (int)getpid());
    struct swagg_options o = {.struct_size = sizeof(struct swagg_options),
                              .switch_ip = argv[2],
                              .job = job_name,
                              .size = 1,
                              .answer_timeout_ms = 300000,
                              .join_timeout_ms = 300000,
                              .call_timeout_ms = 60000};
    struct swagg_job *job;
    struct others others;
    if (swagg_open(&job, &o) != 0 || sum(job) != 0)
        return complain("a good call");
    close_range(FIRST, ~0u, 0);
    if (take)
        open_others(&others);
    if (call &&
        (sum(job) != SWAGG_ERR_SYSTEM || !strstr(swagg_last_error(), "this program has closed the job's")))
        return complain("a call without descriptors");
    swagg_close(job);
    return take && !are_untouched(&others) ? complain("somebody else's descriptor was used") : 0;
}

static int status_of_rank(const struct loop_switch *ls, bool call, bool take)
{
    extern char **environ;
    char *argv[] = {"rank", "--rank", (char *)loop_switch_ip(ls), call ? "1" : "0", take ? "1" : "0", NULL};
    int status = -1;
    pid_t pid = 0;
    CU_ASSERT_EQUAL_FATAL(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    waitpid(pid, &status, 0);
    return status;
}

TEST(a_program_that_closes_everything_gets_an_error_and_keeps_what_it_opens_next)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(status_of_rank(ls, i & 1, i & 2), 0);
    loop_switch_stop(ls);
}

TEST(a_number_that_was_given_to_another_file_is_not_held)
{
    int pair[2], again[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    struct own_fd ours = own_fd_of(pair[0]), none = OWN_FD_NONE;
    CU_ASSERT(own_fd_holds(&ours) && !own_fd_holds(&none));
    close(pair[0]);
    CU_ASSERT(!own_fd_holds(&ours));
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, again), 0);
    CU_ASSERT_EQUAL_FATAL(again[0], ours.fd);
    CU_ASSERT(!own_fd_holds(&ours));
    own_fd_close(&ours);
    CU_ASSERT(fcntl(again[0], F_GETFD) >= 0);
    ours = own_fd_of(again[0]);
    own_fd_close(&ours);
    CU_ASSERT(fcntl(again[0], F_GETFD) < 0);
    close(again[1]);
    close(pair[1]);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--rank") == 0)
        return be_a_rank(argv);
    seed_from_environment();
    return unit_main();
}
