#include "ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

enum { VERSION = 1, FIRST_BYTES = 1 << 16 };

/* No answer is longer: a switch has a few thousand stations at most, and a line of JSON for each. */
static const size_t most_bytes = 1 << 28;

json_t *ask_request(const char *command)
{
    return json_pack("{s:i, s:s}", "version", VERSION, "command", command);
}

/* Of a socket with a time limit also what needs no handler ends a wait with EINTR: to be stopped, and go on.
 */
static ssize_t receive(int fd, char *to, size_t room, int flags)
{
    ssize_t n;

    do
        n = recv(fd, to, room, flags);
    while (n < 0 && errno == EINTR);
    return n;
}

static int send_line(int fd, const json_t *request)
{
    char *text = json_dumps(request, JSON_COMPACT), *line;
    size_t sent = 0;
    ssize_t n = 0;

    if (text == NULL || asprintf(&line, "%s\n", text) < 0) {
        free(text);
        return -ENOMEM;
    }
    while (sent < strlen(line) && n >= 0) {
        n = send(fd, line + sent, strlen(line) - sent, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
    }
    n = n < 0 ? -errno : 0;
    free(line);
    free(text);
    return (int)n;
}

/* Reads up to the end of a line and not beyond: what follows may be no text. Returns its length, or -errno;
 * 0: the switch has hung up. */
static ssize_t receive_piece(int fd, char *to, size_t room)
{
    const ssize_t seen = receive(fd, to, room, MSG_PEEK);
    const char *end = seen > 0 ? memchr(to, '\n', (size_t)seen) : NULL;

    if (seen <= 0)
        return seen < 0 ? -errno : 0;
    return recv(fd, to, end != NULL ? (size_t)(end + 1 - to) : (size_t)seen, 0);
}

static char *receive_line(int fd, size_t *bytes, int *error)
{
    size_t room = FIRST_BYTES;
    char *line = malloc(room), *longer;
    ssize_t n = 0;

    for (*bytes = 0; line != NULL && (*bytes == 0 || line[*bytes - 1] != '\n'); *bytes += (size_t)n) {
        if (*bytes == room) {
            room *= 2;
            longer = room > most_bytes ? NULL : realloc(line, room);
            if (longer == NULL)
                break;
            line = longer;
        }
        n = receive_piece(fd, line + *bytes, room - *bytes);
        if (n <= 0)
            break;
    }
    if (line != NULL && n > 0 && line[*bytes - 1] == '\n')
        return line;
    *error = n < 0 ? (int)-n : n == 0 ? ECONNRESET : ENOMEM;
    free(line);
    return NULL;
}

json_t *ask_on(int fd, const struct instance *instance, const json_t *request, char why[INSTANCE_WHY_MAX])
{
    size_t bytes = 0;
    int error = -send_line(fd, request);
    char *line = error == 0 ? receive_line(fd, &bytes, &error) : NULL;
    json_t *answer = line == NULL ? NULL : json_loadb(line, bytes, 0, NULL);

    if (line == NULL && error == EAGAIN)
        snprintf(why, INSTANCE_WHY_MAX, "the switch at %s does not answer; is its process stopped?",
                 instance->path);
    else if (line == NULL)
        snprintf(why, INSTANCE_WHY_MAX, "the switch at %s has hung up: %s", instance->path, strerror(error));
    else if (!json_is_object(answer))
        snprintf(why, INSTANCE_WHY_MAX, "who answers at %s is no swagg", instance->path);
    free(line);
    if (json_is_object(answer))
        return answer;
    json_decref(answer);
    return NULL;
}

json_t *ask(const struct instance *instance, const json_t *request, char why[INSTANCE_WHY_MAX])
{
    const int fd = instance_connect(instance, why);
    json_t *answer;

    if (fd < 0)
        return NULL;
    answer = ask_on(fd, instance, request, why);
    close(fd);
    return answer;
}
