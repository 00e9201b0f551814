#include "registry/lasting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/kept_file.h"
#include "base/log.h"
#include "base/secret.h"
#include "sodium_keys.h"

#define FILE_NAME "tickets.secret"
#define REMOVE_IT ": remove it, and the next start makes another"
enum { YOUNG_S = 600 };

/* Whether nobody else can have read or written it. */
static int check(int fd, const char *path)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
        return 0;
    return log_fail(-EPERM,
                    "state: %s must be this user's, with mode 0600, since whoever reads it can claim any "
                    "job" REMOVE_IT,
                    path);
}

/* Whether jobs may still be there that began before it was made: a host may have to start more than once
 * until all of them have tickets. */
static bool is_young(int fd)
{
    struct stat st;
    const time_t now = time(NULL);

    return fstat(fd, &st) == 0 && now >= st.st_mtime && now - st.st_mtime < YOUNG_S;
}

static int read_secret(int fd, const char *path, struct ctl_lasting *lasting)
{
    uint8_t bytes[KEYS_SECRET_BYTES + 1];
    int rc = check(fd, path);

    if (rc < 0)
        return rc;
    if (read(fd, bytes, sizeof(bytes)) == KEYS_SECRET_BYTES) {
        memcpy(lasting->secret, bytes, KEYS_SECRET_BYTES);
        lasting->is_new = is_young(fd);
    } else {
        rc = log_fail(-EINVAL, "state: %s is not what swagg has written" REMOVE_IT, path);
    }
    keys_erase(bytes, sizeof(bytes));
    return rc;
}

/* Whole or not at all, whoever else makes one now: -EEXIST if he was first. */
static int make(const char *path, struct ctl_lasting *lasting)
{
    char fresh[PATH_MAX + 32];
    int fd, rc = 0;

    for (size_t i = 0; i < KEYS_SECRET_BYTES; i += sizeof(uint64_t)) {
        const uint64_t word = secret64();

        memcpy(lasting->secret + i, &word, sizeof(word));
    }
    snprintf(fresh, sizeof(fresh), "%s.%016" PRIx64, path,
             secret64()); /* nobody else's, who may have this pid elsewhere */
    fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    errno = EIO; /* of a short write */
    if (write(fd, lasting->secret, KEYS_SECRET_BYTES) != KEYS_SECRET_BYTES || fsync(fd) < 0 ||
        link(fresh, path) < 0)
        rc = -errno;
    close(fd);
    unlink(fresh);
    return rc < 0 ? rc : kept_file_settle(path);
}

int lasting_open(struct ctl_lasting *lasting, const char *folder)
{
    char path[PATH_MAX];
    int fd, rc;

    *lasting = (struct ctl_lasting){0};
    snprintf(path, sizeof(path), "%s/" FILE_NAME, folder);
    fd = kept_file_open(path);
    if (fd < 0 && errno == ENOENT) {
        rc = make(path, lasting);
        lasting->is_new = rc == 0;
        if (lasting->is_new)
            return 0;
        if (rc != -EEXIST)
            return log_fail(rc,
                            "state: cannot keep %s: %s: it needs a folder that is there, in which swagg may "
                            "write, on a disk with room",
                            path, strerror(-rc));
        fd = kept_file_open(path);
    }
    if (fd < 0)
        return log_fail(-errno, "state: cannot read %s: %s: it must be a file of this user's" REMOVE_IT, path,
                        strerror(errno));
    rc = read_secret(fd, path, lasting);
    close(fd);
    return rc;
}
