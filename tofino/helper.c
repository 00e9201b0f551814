#include "helper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monotonic.h"

enum {
    LINE_MAX_BYTES = 1 << 18, /* all stations that the chip has room for */
    STOP_PATIENCE_MS = 2000,  /* for what is being written; the next life clears what is half done */
};

struct helper {
    pid_t pid;
    int fd;
    uint64_t asked, answered; /* questions; answers, of whatever number */
    uint64_t patience_ns, silent_ns, looked_at;
    char *unsent; /* of questions, what the helper has not taken yet */
    size_t unsent_bytes;
    size_t used; /* of line */
    char line[LINE_MAX_BYTES];
};

_Noreturn static void become(char *const argv[], int fd)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(fd, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    execvp(argv[0], argv);
    _exit(127);
}

struct helper *helper_start(char *const argv[], unsigned patience_s)
{
    struct helper *h = calloc(1, sizeof(*h));
    int ends[2];

    if (h == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        free(h);
        return NULL;
    }
    h->pid = fork();
    if (h->pid == 0)
        become(argv, ends[1]);
    close(ends[1]);
    h->fd = ends[0];
    h->patience_ns = patience_s * NS_PER_SECOND;
    if (h->pid > 0)
        return h;
    close(h->fd);
    free(h);
    return NULL;
}

void helper_stop(struct helper *h)
{
    const int end = pidfd_open(h->pid, 0);
    struct pollfd ended = {.fd = end, .events = POLLIN};

    close(h->fd);
    if (poll(&ended, 1, STOP_PATIENCE_MS) <= 0)
        kill(h->pid, SIGKILL);
    if (end >= 0)
        close(end);
    while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(h->unsent);
    free(h);
}

int helper_fd(const struct helper *h)
{
    return h->fd;
}

short helper_events(const struct helper *h)
{
    return (short)(h->unsent_bytes > 0 ? POLLIN | POLLOUT : POLLIN);
}

/* As much as the helper takes now. False: it is gone. */
static bool send_unsent(struct helper *h)
{
    while (h->unsent_bytes > 0) {
        const ssize_t n = send(h->fd, h->unsent, h->unsent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        h->unsent_bytes -= (size_t)n;
        memmove(h->unsent, h->unsent + n, h->unsent_bytes);
    }
    return true;
}

/* The line is to be sent. False: no memory. */
static bool add_line(struct helper *h, const char *text)
{
    const size_t bytes = strlen(text);
    char *longer = realloc(h->unsent, h->unsent_bytes + bytes + 1);

    if (longer == NULL)
        return false;
    memcpy(longer + h->unsent_bytes, text, bytes);
    longer[h->unsent_bytes + bytes] = '\n';
    h->unsent = longer;
    h->unsent_bytes += bytes + 1;
    return true;
}

uint64_t helper_ask(struct helper *h, json_t *request)
{
    char *text;
    bool sent;

    json_object_set_new(request, "id", json_integer((json_int_t)++h->asked));
    text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (text == NULL)
        return 0;
    sent = add_line(h, text) && send_unsent(h);
    free(text);
    return sent ? h->asked : 0;
}

const char *helper_error(const json_t *answer)
{
    return json_string_value(json_object_get(answer, "error"));
}

static bool hand_out(const char *line, size_t bytes, helper_answered *answered, void *context)
{
    json_t *answer = json_loadb(line, bytes, 0, NULL);
    const json_t *id = json_object_get(answer, "id");

    if (!json_is_integer(id)) {
        json_decref(answer);
        return false;
    }
    answered(context, (uint64_t)json_integer_value(id), answer);
    json_decref(answer);
    return true;
}

bool helper_receive(struct helper *h, helper_answered *answered, void *context)
{
    const bool takes = send_unsent(h);
    const ssize_t n = recv(h->fd, h->line + h->used, sizeof(h->line) - h->used, MSG_DONTWAIT);
    char *begin = h->line, *end;

    if (!takes)
        return false;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    h->used += (size_t)n;
    while ((end = memchr(begin, '\n', h->used - (size_t)(begin - h->line))) != NULL) {
        if (!hand_out(begin, (size_t)(end - begin), answered, context))
            return false;
        h->answered++;
        h->silent_ns = 0;
        begin = end + 1;
    }
    h->used -= (size_t)(begin - h->line);
    memmove(h->line, begin, h->used);
    return h->used < sizeof(h->line);
}

bool helper_hangs(struct helper *h, uint64_t now_ns)
{
    const uint64_t passed = now_ns - h->looked_at;

    h->looked_at = now_ns;
    if (h->answered >= h->asked)
        h->silent_ns = 0;
    else
        h->silent_ns += passed < NS_PER_SECOND ? passed : NS_PER_SECOND;
    return h->silent_ns >= h->patience_ns;
}
