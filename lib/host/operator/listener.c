#include "operator/listener.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/log.h"
#include "config/config.h"

enum { WAITING_MAX = 16, TRIES_MAX = 8 };

/* Where sockets are found: that of all daemons, or a service's own in it (systemd.exec(5)), whose user may
 * not write to that of all. */
static const char *directory(void)
{
    const char *own = getenv("RUNTIME_DIRECTORY");

    return own != NULL && strncmp(own, RUN_DIRECTORY "/", sizeof(RUN_DIRECTORY)) == 0 ? own : RUN_DIRECTORY;
}

static int address_of(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address->sun_path))
        return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

/* Whether somebody listens there. */
static bool is_alive(const struct sockaddr_un *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const bool alive = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
                                   errno == EAGAIN); /* EAGAIN: too many wait to be accepted */

    if (fd >= 0)
        close(fd);
    return alive;
}

/* A socket of a daemon that was killed is in the way; any other file is somebody's. */
static int remove_dead(const struct sockaddr_un *address)
{
    struct stat file;

    if (lstat(address->sun_path, &file) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(file.st_mode))
        return S_ISDIR(file.st_mode) ? -EISDIR : -EEXIST;
    if (is_alive(address))
        return -EADDRINUSE;
    return unlink(address->sun_path) < 0 ? -errno : 0;
}

/* Nobody may connect before the file has its group and mode. */
static int bind_closed(int fd, const struct sockaddr_un *address)
{
    const mode_t mask = umask(0777);
    const int rc = bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;

    umask(mask);
    return rc;
}

static int open_at(struct listener *l, mode_t mode, gid_t group)
{
    struct sockaddr_un address;
    int rc = address_of(&address, l->path);

    if (rc == 0)
        rc = remove_dead(&address);
    if (rc < 0)
        return rc;
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    rc = l->fd < 0 ? -errno : bind_closed(l->fd, &address);
    if (rc < 0)
        return rc;
    if (listen(l->fd, WAITING_MAX) == 0 && chown(l->path, (uid_t)-1, group) == 0 && chmod(l->path, mode) == 0)
        return 0;
    rc = -errno;
    unlink(l->path);
    return rc;
}

/* Another daemon that stops removes the directory if it is empty, perhaps just before the socket is made. */
static int open_in_directory(struct listener *l, mode_t mode, gid_t group)
{
    const bool there = strncmp(l->path, RUN_DIRECTORY "/", sizeof(RUN_DIRECTORY)) == 0;
    int rc = -ENOENT;

    for (unsigned tries = 0; tries < TRIES_MAX && rc == -ENOENT; tries++) {
        const int made = mkdir(RUN_DIRECTORY, 0755) < 0 && errno != EEXIST ? -errno : 0;

        rc = open_at(l, mode, group);
        if (rc == -ENOENT && made < 0 && there)
            rc = made; /* says more */
        if (rc < 0 && l->fd >= 0) {
            close(l->fd);
            l->fd = -1;
        }
    }
    return rc;
}

/* Whether the link is there, and leads to this listener's socket. */
static bool is_ours(const struct listener *l)
{
    char target[sizeof(l->path)];
    const ssize_t n = readlink(l->link, target, sizeof(target));

    return n >= 0 && (size_t)n == strlen(l->path) && memcmp(target, l->path, (size_t)n) == 0;
}

/* Another daemon of this name, in another network namespace, may be found there. */
static int put_link(const struct listener *l)
{
    struct sockaddr_un address;

    if (is_ours(l))
        return 0;
    if (address_of(&address, l->link) == 0 && is_alive(&address))
        return -EADDRINUSE;
    unlink(l->link);
    return symlink(l->path, l->link) < 0 ? -errno : 0;
}

/* Tools find the socket by this name, wherever it lies. */
static void leave_link(struct listener *l, const char *name)
{
    int rc;

    snprintf(l->link, sizeof(l->link), "%s/%s.ctl", directory(), name);
    rc = strcmp(l->link, l->path) == 0 ? 0 : put_link(l);
    if (rc == -EADDRINUSE)
        log_warning("another swagg answers at %s; swaggctl needs --switch %s for this one", l->link, l->path);
    else if (rc < 0)
        log_warning("cannot leave a link to %s in %s: %s; swaggctl needs --switch %s", l->path, directory(),
                    strerror(-rc), l->path);
}

static void tell(const struct listener *l, const char *group, int rc)
{
    if (rc == -EADDRINUSE)
        log_error("control.path: another swagg answers at %s: give this one another path", l->path);
    else if (rc == -EEXIST)
        log_error("control.path: %s is a file that is no socket: remove it, or choose another path", l->path);
    else if (rc == -EISDIR)
        log_error("control.path: %s is a folder: name a file in it", l->path);
    else if (rc == -ENAMETOOLONG)
        log_error("control.path: %s is too long for a socket: at most %zu characters", l->path,
                  sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
    else if (rc == -EPERM && group[0] != '\0')
        log_error(
            "control.group: cannot give %s to group %s: be a member of it, or have the capability CAP_CHOWN",
            l->path, group);
    else
        log_error("cannot make the socket for swaggctl, %s: %s (control.path chooses another; \"none\" does "
                  "without)",
                  l->path, strerror(-rc));
}

int listener_open(struct listener *l, const struct config_control *cfg, const char *name)
{
    gid_t group;
    int rc = machine_group(&group, cfg->group);

    *l = (struct listener){.fd = -1};
    if (rc < 0)
        return rc;
    if (cfg->path[0] != '\0')
        snprintf(l->path, sizeof(l->path), "%s", cfg->path);
    else
        snprintf(l->path, sizeof(l->path), "%s/%s.ctl", directory(), name);
    rc = open_in_directory(l, cfg->mode, group);
    if (rc < 0)
        tell(l, cfg->group, rc);
    else
        leave_link(l, name);
    return rc;
}

void listener_remove(const struct listener *l)
{
    if (is_ours(l))
        unlink(l->link);
    unlink(l->path);
    rmdir(RUN_DIRECTORY); /* where it is empty */
}
