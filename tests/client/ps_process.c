#include "ps_process.h"
#include "crew.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>

const char *ps_program;
struct ps_process the_server;

static void die(const char *what)
{
    fprintf(stderr, "swagg-ps: %s: %s\n", what, strerror(errno));
    abort();
}

static void write_file(const char *path, const char *lines)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(lines, f) < 0 || fclose(f) != 0)
        die(path);
}

/* Takes an address for this process, so that tests which run side by side never have the same: by a name in
 * the abstract namespace of sockets, which is free again when it ends. Returns the socket; -1: it is taken.
 */
static int claim(const char *ip)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "swagg/test/%s", ip);
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("socket");
    if (bind(fd, (struct sockaddr *)&name, bytes) == 0)
        return fd;
    if (errno != EADDRINUSE)
        die("bind");
    close(fd);
    return -1;
}

/* The last byte is none of the loop switches', which have 1 to 250. */
static void choose_ip(struct ps_process *ps)
{
    static unsigned made;
    do {
        const unsigned n = (unsigned)getpid() * 59 + made++;
        snprintf(ps->ip, sizeof ps->ip, "127.%u.%u.%u", 1 + n / 1000 % 250, 1 + n / 4 % 250, 251 + n % 4);
    } while ((ps->claim = claim(ps->ip)) < 0);
}

void ps_configure(const struct ps_process *ps, const char *more)
{
    char path[64], lines[1024];
    snprintf(path, sizeof path, "%s/conf.yaml", ps->folder);
    snprintf(lines, sizeof lines, "server: {ip: %s, threads: 2}\ncontrol: {path: %s}\n%s%s", ps->ip,
             ps->socket, strstr(more, "timers:") ? "" : "timers: {lost_after_ms: 60000}\n", more);
    write_file(path, lines);
}

void ps_make(struct ps_process *ps, const char *more)
{
    *ps = (struct ps_process){.folder = "/tmp/swagg-ps.XXXXXX"};
    if (!mkdtemp(ps->folder))
        die("mkdtemp");
    choose_ip(ps);
    snprintf(ps->socket, sizeof ps->socket, "%s/ctl", ps->folder);
    ps_configure(ps, more);
}

/* What it writes to stderr is to be read from the stream. It ends with the calling thread: a test that aborts
 * leaves no server behind, whose open stdout its caller would wait for. */
static pid_t spawn(const char *option, const char *file, FILE **err)
{
    extern char **environ;
    char *argv[] = {"setpriv",
                    "--pdeathsig",
                    "KILL",
                    (char *)ps_program,
                    (char *)(option ? option : file),
                    option ? (char *)file : NULL,
                    NULL};
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (pipe(ends) < 0)
        die("pipe");
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    if ((errno = posix_spawnp(&pid, *argv, &actions, NULL, argv, environ)))
        die(*argv);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *err = fdopen(ends[0], "r");
    return pid;
}

void ps_await(const struct ps_process *ps, const char *words)
{
    char line[1024];
    while (fgets(line, sizeof line, ps->log))
        if (strstr(line, words))
            return;
        else
            fputs(line, stderr);
    fprintf(stderr, "swagg-ps ends without a word of '%s'\n", words);
    abort();
}

void ps_start(struct ps_process *ps)
{
    char path[64];
    snprintf(path, sizeof path, "%s/conf.yaml", ps->folder);
    ps->pid = spawn(NULL, path, &ps->log);
    ps_await(ps, " serves at ");
}

void ps_begin(struct ps_process *ps, const char *more)
{
    ps_make(ps, more);
    ps_start(ps);
}

static int end(struct ps_process *ps, int how)
{
    int status;
    kill(ps->pid, how);
    waitpid(ps->pid, &status, 0);
    fclose(ps->log);
    ps->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void ps_kill(struct ps_process *ps)
{
    end(ps, SIGKILL);
}

int ps_stop(struct ps_process *ps)
{
    char path[64], link[64];
    int status = ps->pid ? end(ps, SIGTERM) : 0;
    snprintf(path, sizeof path, "%s/conf.yaml", ps->folder);
    unlink(path);
    unlink(ps->socket);
    snprintf(link, sizeof link, "/run/swagg/%s.ctl", ps->ip); /* one that was killed has left it */
    unlink(link);
    rmdir(ps->folder);
    close(ps->claim);
    return status;
}

char *ps_ask(const struct ps_process *ps, const char *request)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *answer = NULL;
    size_t room = 0;
    strcpy(at.sun_path, ps->socket);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
        dprintf(fd, "{\"version\": 1, \"command\": %s}\n", request) < 0)
        die("the operators' socket");
    FILE *f = fdopen(fd, "r");
    if (getline(&answer, &room, f) < 0)
        die("no answer");
    fclose(f);
    return answer;
}

bool ps_answers(const struct ps_process *ps, const char *request, const char *words)
{
    char *answer = ps_ask(ps, request);
    bool has = says(answer, words);
    free(answer);
    return has;
}

uint64_t ps_counted(const struct ps_process *ps, const char *command, const char *name)
{
    char request[64];
    snprintf(request, sizeof request, "\"%s\"", command);
    char *json = ps_ask(ps, request), *at = strstr(json, name);
    if (!at || !(at = strpbrk(at, "0123456789")))
        die(name);
    const uint64_t n = strtoull(at, NULL, 10);
    free(json);
    return n;
}

uint64_t ps_sent_unasked(const struct ps_process *ps)
{
    const uint64_t answers = ps_counted(ps, "verdicts", "\"atp_results_again\"") +
                             ps_counted(ps, "verdicts", "\"atp_results_again_to_all\"") +
                             ps_counted(ps, "verdicts", "\"atp_waits\"") +
                             8 * ps_counted(ps, "verdicts", "\"atp_asks\"");
    const uint64_t sent = ps_counted(ps, "counters", "\"sent\":");
    return sent > answers ? sent - answers : 0;
}

bool ps_check(const char *lines, int status, const char *words)
{
    char path[] = "/tmp/swagg-ps.XXXXXX", said[1024];
    int ended, fd = mkstemp(path);
    FILE *err;
    if (fd < 0)
        die("mkstemp");
    close(fd);
    write_file(path, lines);
    pid_t pid = spawn("--check", path, &err);
    size_t n = fread(said, 1, sizeof said - 1, err);
    said[n] = '\0';
    fclose(err);
    waitpid(pid, &ended, 0);
    unlink(path);
    return WIFEXITED(ended) && WEXITSTATUS(ended) == status && says(said, words);
}

void start_server(void)
{
    ps_begin(&the_server, "");
}

void stop_server(void)
{
    CU_ASSERT_EQUAL(ps_stop(&the_server), 0);
}
