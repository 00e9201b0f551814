/* The log: lines that are whole, carry the time once the daemon runs, and never wait for a reader. */
#include "base/log.h"

#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "stderr_capture.h"
#include "unit.h"

enum { LINES = 4000 };

static bool matches(const char *line, const char *pattern)
{
    regex_t regex;
    bool found;

    CU_ASSERT_FATAL(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
    found = regexec(&regex, line, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

TEST(an_answer_to_a_command_line_has_no_time)
{
    log_warning("%s: %d", "a", 1);
    CU_ASSERT_STRING_EQUAL(capture_take(), "swagg: warning: a: 1\n");
    log_debug("not asked for");
    CU_ASSERT_STRING_EQUAL(capture_take(), "");
}

TEST(lines_carry_the_time)
{
    log_with_time();
    log_notice("ready");
    CU_ASSERT(matches(capture_take(),
                      "^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z "
                      "swagg: ready\n$"));
}

TEST(lines_of_libraries_go_the_same_way)
{
    FILE *stream = log_stream();

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    fprintf(stream, "EAL: %d\nEAL: again\n", 1);
    fflush(stream);
    CU_ASSERT(matches(capture_take(), "^[^\n]*Z swagg: EAL: 1\n[^\n]*Z swagg: EAL: again\n$"));
    fclose(stream);
}

/* A journal that this test plays. */
TEST(a_journal_gets_fields_and_stderr_what_it_does_not_take)
{
    const struct log_subject about = {.job = "train", .rank = "3", .reason = "rank lost"};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char stream[64], line[1024];
    const int listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    struct stat st;
    ssize_t n;

    snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/test_log_%d", getpid());
    CU_ASSERT_EQUAL_FATAL(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    CU_ASSERT_EQUAL_FATAL(fstat(STDERR_FILENO, &st), 0);

    setenv("JOURNAL_STREAM", "1:2", 1); /* another's: a service's stderr that was redirected */
    log_to_journal(at.sun_path);
    log_notice("not for it");
    CU_ASSERT(matches(capture_take(), "swagg: not for it\n$"));

    snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    log_to_journal(at.sun_path);
    log_about(LOG_LEVEL_WARNING, &about, "job %s: failed\nRANK=7", "train");
    n = recv(listener, line, sizeof(line) - 1, 0);
    CU_ASSERT_FATAL(n > 0);
    line[n] = '\0';
    CU_ASSERT_STRING_EQUAL(line, "MESSAGE=job train: failed RANK=7\nPRIORITY=4\nSYSLOG_IDENTIFIER=swagg\n"
                                 "JOB=train\nRANK=3\nREASON=rank lost\n");
    log_error("plain");
    n = recv(listener, line, sizeof(line) - 1, 0);
    CU_ASSERT_FATAL(n > 0);
    line[n] = '\0';
    CU_ASSERT_STRING_EQUAL(line, "MESSAGE=plain\nPRIORITY=3\nSYSLOG_IDENTIFIER=swagg\n");
    CU_ASSERT_STRING_EQUAL(capture_take(), "");

    close(listener);
    unlink(at.sun_path);
    log_notice("nobody is there");
    CU_ASSERT(matches(capture_take(), "swagg: nobody is there\n$"));
    unsetenv("JOURNAL_STREAM");
    log_to_journal(at.sun_path);
}

/* Far more than a pipe holds. */
TEST(nobody_reads)
{
    unsigned whole = 0;
    char lost[80];

    for (unsigned i = 0; i < LINES; i++)
        log_notice("line %u of many", i);
    CU_ASSERT(log_lost() > 0);
    for (const char *at = capture_take(); *at != '\0'; at = strchr(at, '\n') + 1, whole++) {
        char expected[40];

        snprintf(expected, sizeof(expected), "Z swagg: line %u of many\n", whole);
        CU_ASSERT_FATAL(strchr(at, 'Z') != NULL);
        CU_ASSERT_FATAL(strncmp(strchr(at, 'Z'), expected, strlen(expected)) == 0);
    }
    CU_ASSERT_EQUAL(whole + log_lost(), LINES);

    log_notice("read again");
    snprintf(lost, sizeof(lost), "swagg: warning: %u lines were lost here", LINES - whole);
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_take(), lost));
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, "read again\n"));
    log_notice("said once");
    CU_ASSERT_PTR_NULL(strstr(capture_take(), "lost"));
}

/* Of a terminal, unlike a pipe, some of the room may be left, though not enough for a line. */
TEST(nobody_reads_a_terminal)
{
    const uint64_t lost = log_lost();
    const int before = dup(STDERR_FILENO);
    const int reader = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    char text[1 << 16] = "";
    size_t n = 0;
    int terminal;

    CU_ASSERT_FATAL(reader >= 0 && grantpt(reader) == 0 && unlockpt(reader) == 0);
    terminal = open(ptsname(reader), O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(terminal >= 0);
    dup2(terminal, STDERR_FILENO);
    for (unsigned i = 0; i < LINES && log_lost() < lost + 10; i++)
        log_notice("a line that nobody reads: %u", i);
    CU_ASSERT_EQUAL(log_lost() - lost, 10);
    CU_ASSERT(!(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK)); /* others would have it, too */

    while (strstr(text, "swagg: read again\r\n") ==
           NULL) { /* the kernel takes its time between the two ends */
        const ssize_t some = read(reader, text + n, sizeof(text) - 1 - n);

        n += some > 0 ? (size_t)some : 0;
        text[n] = '\0';
        log_notice("read again");
    }
    CU_ASSERT(matches(text, "swagg: warning: [0-9]+ lines were lost here: nobody read them\r\n"));
    dup2(before, STDERR_FILENO);
    close(before);
    close(terminal);
    close(reader);
}

static void let_files_grow(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As on a full disk, the first line that does not fit is cut in two. */
TEST(a_file_takes_no_more_for_a_while)
{
    const uint64_t lost = log_lost();
    const int before = dup(STDERR_FILENO);
    char path[] = "/tmp/swagg-log.XXXXXX", text[1024];
    ssize_t bytes;
    int file;

    signal(SIGXFSZ, SIG_IGN);
    file = mkstemp(path);
    unlink(path);
    dup2(file, STDERR_FILENO);
    log_notice("one");
    let_files_grow((rlim_t)lseek(file, 0, SEEK_CUR) + 10);
    log_notice("two");
    log_notice("three");
    let_files_grow(RLIM_INFINITY);
    log_notice("four");
    dup2(before, STDERR_FILENO);
    close(before);

    bytes = pread(file, text, sizeof(text) - 1, 0);
    CU_ASSERT_FATAL(bytes > 0);
    text[bytes] = '\0';
    CU_ASSERT(matches(text, "^[^\n]*Z swagg: one\n[^\n]{10}\n"
                            "[^\n]*Z swagg: warning: 2 lines were lost here: File too large\n"
                            "[^\n]*Z swagg: four\n$"));
    CU_ASSERT_EQUAL(log_lost() - lost, 2);
    close(file);
}

int main(void)
{
    int status;

    if (!capture_begin())
        return EXIT_FAILURE;
    status = unit_main();
    capture_end();
    return status;
}
