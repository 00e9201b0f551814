#include "ask.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

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

enum { PATIENCE_S = 60 };

struct found {
    unsigned n;
    struct instance instance[INSTANCES_MAX];
};

static int connect_to(const char *path)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0)
        return -errno;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    error = errno;
    close(fd);
    return -error;
}

static void explain_permission(const char *path, char why[INSTANCE_WHY_MAX])
{
    const struct passwd *user = getpwuid(getuid());
    const struct group *group;
    struct stat file;

    if (stat(path, &file) < 0) {
        snprintf(why, INSTANCE_WHY_MAX, "no permission to look at %s: be root", path);
        return;
    }
    group = file.st_gid != 0 ? getgrgid(file.st_gid) : NULL; /* nobody is to join root's */
    if (group == NULL || (file.st_mode & S_IWGRP) == 0)
        snprintf(
            why, INSTANCE_WHY_MAX,
            "no permission to use %s: be root; or let a group use it (control.group and control.mode in the "
            "switch's configuration)",
            path);
    else
        snprintf(why, INSTANCE_WHY_MAX,
                 "no permission to use %s: it is for the group %s: be root, or join that group (usermod -aG "
                 "%s %s, "
                 "and log in anew)",
                 path, group->gr_name, group->gr_name, user != NULL ? user->pw_name : "USER");
}

static bool is_socket(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && S_ISSOCK(file.st_mode);
}

int instance_connect(const struct instance *instance, char why[INSTANCE_WHY_MAX])
{
    const int fd = connect_to(instance->path);

    if (fd >= 0)
        return fd;
    if (fd == -EACCES || fd == -EPERM)
        explain_permission(instance->path, why);
    else if (fd == -ENOENT)
        snprintf(why, INSTANCE_WHY_MAX, "there is no switch at %s: swaggctl switches lists those that run",
                 instance->path);
    else if (fd == -ECONNREFUSED && !is_socket(instance->path))
        snprintf(why, INSTANCE_WHY_MAX, "%s is no socket: swaggctl switches lists those of switches",
                 instance->path);
    else if (fd == -ECONNREFUSED)
        snprintf(why, INSTANCE_WHY_MAX, "nobody answers at %s: that swagg has ended; start it again",
                 instance->path);
    else
        snprintf(why, INSTANCE_WHY_MAX, "cannot connect to %s: %s", instance->path, strerror(-fd));
    return -1;
}

/* Whether a switch answers there, or might, if we were allowed to ask. */
static bool is_alive(const char *path)
{
    const int fd = connect_to(path);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

/* Of a path that ends with ".ctl". */
static bool read_name(struct instance *instance, const char *path)
{
    const char *file = strrchr(path, '/') + 1;
    const size_t length = strlen(file) - strlen(".ctl");

    if (length == 0 || length >= sizeof(instance->name))
        return false;
    snprintf(instance->name, sizeof(instance->name), "%.*s", (int)length, file);
    return (size_t)snprintf(instance->path, sizeof(instance->path), "%s", path) < sizeof(instance->path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct instance *)a)->name, ((const struct instance *)b)->name);
}

static bool is_link(const char *path)
{
    struct stat file;

    return lstat(path, &file) == 0 && S_ISLNK(file.st_mode);
}

/* A switch whose control.path lies in this directory is found twice: by its socket, and by the link that it
 * has left. It is one, by the link's name, which is its own. */
static bool is_found(struct found *found, const struct instance *another)
{
    struct stat is, was;

    for (unsigned i = 0; i < found->n; i++) {
        struct instance *one = &found->instance[i];

        if (stat(one->path, &was) < 0 || stat(another->path, &is) < 0 || was.st_dev != is.st_dev ||
            was.st_ino != is.st_ino)
            continue;
        if (is_link(another->path))
            *one = *another;
        return true;
    }
    return false;
}

/* Those that answer; wanted: of this name, and nobody else is troubled; NULL: all. */
static void find(struct found *found, const char *wanted)
{
    glob_t paths = {0};

    found->n = 0;
    glob(INSTANCES_DIRECTORY "/*.ctl", 0, NULL, &paths);
    glob(INSTANCES_DIRECTORY "/*/*.ctl", GLOB_APPEND, NULL, &paths); /* services of other users */
    for (size_t i = 0; i < paths.gl_pathc && found->n < INSTANCES_MAX; i++)
        if (read_name(&found->instance[found->n], paths.gl_pathv[i]) &&
            (wanted == NULL || strcmp(found->instance[found->n].name, wanted) == 0) &&
            is_alive(found->instance[found->n].path) && !is_found(found, &found->instance[found->n]))
            found->n++;
    globfree(&paths);
    qsort(found->instance, found->n, sizeof(found->instance[0]), by_name);
}

void instances_visit(void (*visit)(void *context, const char *name), void *context)
{
    struct found found;

    find(&found, NULL);
    for (unsigned i = 0; i < found.n; i++)
        visit(context, found.instance[i].name);
}

static int ask_which(struct instance *instance, const struct found *found)
{
    json_t *names = json_array();
    int chosen;

    for (unsigned i = 0; i < found->n; i++)
        json_array_append_new(names, json_string(found->instance[i].name));
    chosen = choose(names, "which switch?");
    json_decref(names);
    if (chosen < 0)
        return -1;
    *instance = found->instance[chosen];
    return 0;
}

static int choose_of_several(struct instance *instance, const struct found *found, char why[INSTANCE_WHY_MAX])
{
    size_t used;

    if (ask_which(instance, found) == 0)
        return 0;
    used = (size_t)snprintf(why, INSTANCE_WHY_MAX,
                            "%u switches run here; say which by --switch NAME:", found->n);
    for (unsigned i = 0; i < found->n && used < INSTANCE_WHY_MAX; i++)
        used += (size_t)snprintf(why + used, INSTANCE_WHY_MAX - used, " %s", found->instance[i].name);
    return -1;
}

static int name_instance(struct instance *instance, const char *wanted, char why[INSTANCE_WHY_MAX])
{
    const bool is_path = strchr(wanted, '/') != NULL;
    const int n =
        is_path ? snprintf(instance->path, sizeof(instance->path), "%s", wanted)
                : snprintf(instance->path, sizeof(instance->path), INSTANCES_DIRECTORY "/%s.ctl", wanted);

    snprintf(instance->name, sizeof(instance->name), "%s", wanted);
    if ((size_t)n < sizeof(instance->path))
        return 0;
    snprintf(why, INSTANCE_WHY_MAX, "%s is too long for the path of a socket", wanted);
    return -1;
}

int instance_choose(struct instance *instance, const char *wanted, char why[INSTANCE_WHY_MAX])
{
    struct found found;

    if (wanted != NULL && strchr(wanted, '/') != NULL)
        return name_instance(instance, wanted, why);
    find(&found, wanted);
    if (wanted != NULL && found.n == 0)
        return name_instance(instance, wanted, why); /* to say what is wrong there */
    if (wanted == NULL && found.n > 1)
        return choose_of_several(instance, &found, why);
    if (found.n > 0) {
        *instance = found.instance[0];
        return 0;
    }
    snprintf(why, INSTANCE_WHY_MAX,
             "no swagg runs here (none answers in " INSTANCES_DIRECTORY
             "): start one, or name the socket of one that has "
             "another root directory: --switch PATH");
    return -1;
}

int choose(const json_t *choices, const char *question)
{
    const json_t *choice;
    unsigned long n;
    char line[32];
    size_t i;

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return -1;
    json_array_foreach (choices, i, choice)
        fprintf(stderr, "%3zu  %s\n", i + 1, json_string_value(choice));
    fprintf(stderr, "%s [1-%zu] ", question, json_array_size(choices));
    if (fgets(line, sizeof(line), stdin) == NULL)
        return -1;
    n = strtoul(line, NULL, 10);
    return n < 1 || n > json_array_size(choices) ? -1 : (int)n - 1;
}

json_t *ask_view(const struct instance *instance, const char *view, const char *name,
                 char why[INSTANCE_WHY_MAX])
{
    json_t *request = ask_request(view), *answer;

    if (name != NULL)
        json_object_set_new(request, "name", json_string(name));
    answer = ask(instance, request, why);
    json_decref(request);
    return answer;
}

void ask_job_called(char called[JOB_CALLED_MAX], const json_t *row)
{
    const char *tenant = json_string_value(json_object_get(row, "tenant"));

    snprintf(called, JOB_CALLED_MAX, "%s%s%s", tenant == NULL ? "" : tenant, tenant == NULL ? "" : "/",
             json_string_value(json_object_get(row, "name")));
}
