#include "instances.h"

#include <dirent.h>
#include <errno.h>
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

#include "choose.h"

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

static bool read_name(struct instance *instance, const char *file)
{
    const char *end = strrchr(file, '.');

    if (end == NULL || end == file || strcmp(end, ".ctl") != 0 ||
        (size_t)(end - file) >= sizeof(instance->name))
        return false;
    snprintf(instance->name, sizeof(instance->name), "%.*s", (int)(end - file), file);
    return (size_t)snprintf(instance->path, sizeof(instance->path), INSTANCES_DIRECTORY "/%s", file) <
           sizeof(instance->path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct instance *)a)->name, ((const struct instance *)b)->name);
}

static void find_all(struct found *found)
{
    DIR *directory = opendir(INSTANCES_DIRECTORY);
    struct dirent *file;

    found->n = 0;
    while (directory != NULL && found->n < INSTANCES_MAX && (file = readdir(directory)) != NULL)
        if (read_name(&found->instance[found->n], file->d_name) && is_alive(found->instance[found->n].path))
            found->n++;
    if (directory != NULL)
        closedir(directory);
    qsort(found->instance, found->n, sizeof(found->instance[0]), by_name);
}

void instances_visit(void (*visit)(const char *name))
{
    struct found found;

    find_all(&found);
    for (unsigned i = 0; i < found.n; i++)
        visit(found.instance[i].name);
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

    if (wanted != NULL)
        return name_instance(instance, wanted, why);
    find_all(&found);
    if (found.n > 1)
        return choose_of_several(instance, &found, why);
    if (found.n == 1) {
        *instance = found.instance[0];
        return 0;
    }
    snprintf(why, INSTANCE_WHY_MAX,
             "no swagg runs here (none answers in " INSTANCES_DIRECTORY
             "): start one, or name the socket of one that has "
             "another root directory: --switch PATH");
    return -1;
}
