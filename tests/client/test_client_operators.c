/* swagg-ps as its operators have it: what they change, what they are told, and what nobody can do to its log.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "ps_process.h"
#include "unit.h"

static const char *program; /* swagg-ps */

/* It is told to end: then a line that is not there is not waited for. */
static void expect_last_words(struct ps_process *ps, const char *words)
{
    kill(ps->pid, SIGTERM);
    ps_await(ps, words);
}

/* A reload takes it back to the file's, and says so. */
static void the_level_of_the_log_is_changed(void)
{
    static const char *const asked[][2] = {
        {"\"log level\", \"level\": \"loud\"", "loud is no log level; there are: error, warning"},
        {"\"log level\", \"level\": \"debug\"", "\"ok\":true"},
        {"\"status\"", "\"log_level\":\"debug\""},
        {"\"reload\"", "\"key\":\"log_level\",\"from\":\"debug\",\"to\":\"notice\""},
        {"\"status\"", "\"log_level\":\"notice\""},
    };
    struct ps_process ps;
    ps_make(&ps, program, "");
    ps_start(&ps);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        CU_ASSERT(ps_answers(&ps, asked[i][0], asked[i][1]));
    expect_last_words(&ps, "log level set to debug by the operator");
    CU_ASSERT_EQUAL(ps_stop(&ps), 0);
}

/* Counts the lines about jobs in what there is of the log; tells whether one says that others were left out.
 */
static bool lines_are_left_out(const struct ps_process *ps, unsigned *about_jobs)
{
    static char text[1 << 16];
    const ssize_t n = read(fileno(ps->log), text, sizeof text - 1);
    CU_ASSERT_FATAL(n > 0 || (n < 0 && errno == EAGAIN));
    text[n > 0 ? n : 0] = '\0';
    for (const char *at = text; (at = strstr(at, "swagg: job ")); at++)
        ++*about_jobs;
    return strstr(text, " lines about jobs are left out: more than 16 a second on account of one address");
}

static void come_and_go(const struct ps_process *ps)
{
    const struct swagg_options options = {
        .struct_size = sizeof options, .switch_ip = ps->ip, .job = "passing", .size = 1, .mtu = 1500};
    struct swagg_job *job;
    CU_ASSERT_EQUAL_FATAL(swagg_open(&job, &options), 0);
    swagg_close(job);
}

/* Strangers are heard 64 times a second, so the log's bound is passed some seconds after the first 1,024
 * lines. */
static void nobody_fills_the_log_by_joining(void)
{
    enum { FULL = 3000 };
    struct ps_process ps;
    unsigned about_jobs = 0;
    bool left_out = false;
    ps_make(&ps, program, "");
    ps_start(&ps);
    CU_ASSERT_EQUAL_FATAL(fcntl(fileno(ps.log), F_SETFL, O_NONBLOCK), 0);
    while (!left_out && about_jobs < FULL) {
        come_and_go(&ps);
        left_out = lines_are_left_out(&ps, &about_jobs);
    }
    CU_ASSERT(left_out);
    CU_ASSERT_EQUAL(ps_stop(&ps), 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    program = argv[1];
    CU_TestInfo tests[] = {
        UNIT_TEST(the_level_of_the_log_is_changed),
        UNIT_TEST(nobody_fills_the_log_by_joining),
        CU_TEST_INFO_NULL,
    };
    return unit_main("client operators", tests);
}
