#include "places.h"

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
    struct place place[PLACES_MAX];
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

static void explain_permission(const char *path, char why[PLACE_WHY_MAX])
{
    const struct passwd *user = getpwuid(getuid());
    const struct group *group;
    struct stat file;

    if (stat(path, &file) < 0) {
        snprintf(why, PLACE_WHY_MAX, "no permission to look at %s: be root", path);
        return;
    }
    group = file.st_gid != 0 ? getgrgid(file.st_gid) : NULL; /* nobody is to join root's */
    if (group == NULL || (file.st_mode & S_IWGRP) == 0)
        snprintf(
            why, PLACE_WHY_MAX,
            "no permission to use %s: be root; or let a group use it (control.group and control.mode in the "
            "switch's configuration)",
            path);
    else
        snprintf(why, PLACE_WHY_MAX,
                 "no permission to use %s: it is for the group %s: be root, or join that group (usermod -aG "
                 "%s %s, "
                 "and log in anew)",
                 path, group->gr_name, group->gr_name, user != NULL ? user->pw_name : "USER");
}

int place_connect(const struct place *place, char why[PLACE_WHY_MAX])
{
    const int fd = connect_to(place->path);

    if (fd >= 0)
        return fd;
    if (fd == -EACCES || fd == -EPERM)
        explain_permission(place->path, why);
    else if (fd == -ENOENT)
        snprintf(why, PLACE_WHY_MAX, "there is no switch at %s: swaggctl switches lists those that run",
                 place->path);
    else if (fd == -ECONNREFUSED)
        snprintf(why, PLACE_WHY_MAX, "nobody answers at %s: that swagg has ended; start it again",
                 place->path);
    else
        snprintf(why, PLACE_WHY_MAX, "cannot connect to %s: %s", place->path, strerror(-fd));
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

static bool read_name(struct place *place, const char *file)
{
    const char *end = strrchr(file, '.');

    if (end == NULL || end == file || strcmp(end, ".ctl") != 0 || (size_t)(end - file) >= sizeof(place->name))
        return false;
    snprintf(place->name, sizeof(place->name), "%.*s", (int)(end - file), file);
    return (size_t)snprintf(place->path, sizeof(place->path), PLACES_DIRECTORY "/%s", file) <
           sizeof(place->path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->name, ((const struct place *)b)->name);
}

static void find_all(struct found *found)
{
    DIR *directory = opendir(PLACES_DIRECTORY);
    struct dirent *file;

    found->n = 0;
    while (directory != NULL && found->n < PLACES_MAX && (file = readdir(directory)) != NULL)
        if (read_name(&found->place[found->n], file->d_name) && is_alive(found->place[found->n].path))
            found->n++;
    if (directory != NULL)
        closedir(directory);
    qsort(found->place, found->n, sizeof(found->place[0]), by_name);
}

void places_visit(void (*visit)(const char *name))
{
    struct found found;

    find_all(&found);
    for (unsigned i = 0; i < found.n; i++)
        visit(found.place[i].name);
}

static int ask_which(struct place *place, const struct found *found)
{
    json_t *names = json_array();
    int chosen;

    for (unsigned i = 0; i < found->n; i++)
        json_array_append_new(names, json_string(found->place[i].name));
    chosen = choose(names, "which switch?");
    json_decref(names);
    if (chosen < 0)
        return -1;
    *place = found->place[chosen];
    return 0;
}

static int choose_of_several(struct place *place, const struct found *found, char why[PLACE_WHY_MAX])
{
    size_t used;

    if (ask_which(place, found) == 0)
        return 0;
    used =
        (size_t)snprintf(why, PLACE_WHY_MAX, "%u switches run here; say which by --switch NAME:", found->n);
    for (unsigned i = 0; i < found->n && used < PLACE_WHY_MAX; i++)
        used += (size_t)snprintf(why + used, PLACE_WHY_MAX - used, " %s", found->place[i].name);
    return -1;
}

static int name_place(struct place *place, const char *wanted, char why[PLACE_WHY_MAX])
{
    const bool is_path = strchr(wanted, '/') != NULL;
    const int n = is_path ? snprintf(place->path, sizeof(place->path), "%s", wanted)
                          : snprintf(place->path, sizeof(place->path), PLACES_DIRECTORY "/%s.ctl", wanted);

    snprintf(place->name, sizeof(place->name), "%s", wanted);
    if ((size_t)n < sizeof(place->path))
        return 0;
    snprintf(why, PLACE_WHY_MAX, "%s is too long for the path of a socket", wanted);
    return -1;
}

int place_choose(struct place *place, const char *wanted, char why[PLACE_WHY_MAX])
{
    struct found found;

    if (wanted != NULL)
        return name_place(place, wanted, why);
    find_all(&found);
    if (found.n > 1)
        return choose_of_several(place, &found, why);
    if (found.n == 1) {
        *place = found.place[0];
        return 0;
    }
    snprintf(why, PLACE_WHY_MAX,
             "no swagg runs here (none answers in " PLACES_DIRECTORY
             "): start one, or name the socket of one that has "
             "another root directory: --switch PATH");
    return -1;
}
