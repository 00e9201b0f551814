#include "base/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int write_fresh(const char *path, const json_t *content, size_t flags)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *f;
    int rc;

    if (fd < 0)
        return -errno;
    f = fdopen(fd, "w");
    if (f == NULL) {
        close(fd);
        return -ENOMEM;
    }
    rc = json_dumpf(content, f, flags) < 0 || fflush(f) != 0 || fsync(fd) < 0 ? -errno : 0;
    return fclose(f) != 0 && rc == 0 ? -errno : rc;
}

int kept_file_settle(const char *path)
{
    char folder[PATH_MAX];
    int fd, rc;

    snprintf(folder, sizeof(folder), "%s", path);
    fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = fd < 0 || fsync(fd) < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    return rc;
}

int kept_file_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

int kept_file_write(const char *path, const json_t *content, size_t flags)
{
    char fresh[PATH_MAX + 8];
    int rc;

    snprintf(fresh, sizeof(fresh), "%s.new", path);
    rc = content == NULL ? -ENOMEM : write_fresh(fresh, content, flags);
    if (rc == 0 && rename(fresh, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(fresh);
    return rc < 0 ? rc : kept_file_settle(path);
}
