#include "local/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "monotonic.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static void unmap(struct memory *m)
{
    if (m->board)
        munmap(m->board, m->mapped);
    m->board = NULL;
}

/* Large pages, where the system gives them for the asking. Those that its operator has set aside are not
 * taken: they are for whom he has meant them. */
int memory_map(struct memory *m, size_t mapped)
{
    void *at;
    if (mapped > m->bytes)
        return -EINVAL;
    at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, m->file.fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    unmap(m);
    madvise(at, mapped, MADV_HUGEPAGE);
    m->board = at;
    m->mapped = mapped;
    return 0;
}

/* The limit of files holds for it, too; and who asks for more is sent a signal by which programs end. */
static int set_length(int fd, size_t bytes)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur)
        return -EFBIG;
    return ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;
}

int memory_make(struct memory *m, size_t bytes, size_t mapped)
{
    const int fd = memfd_create("swagg", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int rc;
    *m = MEMORY_NONE;
    if (fd < 0)
        return -errno;
    m->file = own_fd_of(fd);
    m->bytes = bytes;
    rc = set_length(fd, bytes);
    if (rc == 0 && fcntl(fd, F_ADD_SEALS, SEALS) < 0)
        rc = -errno;
    if (rc == 0)
        rc = memory_map(m, mapped);
    while (rc == 0 && m->board->id == 0)
        if (getrandom(&m->board->id, sizeof m->board->id, 0) < 0 && errno != EINTR)
            rc = -errno;
    if (rc < 0)
        memory_close(m);
    return rc;
}

int memory_take(struct memory *m, int fd, size_t mapped)
{
    struct stat s;
    int rc;
    *m = MEMORY_NONE;
    m->file = own_fd_of(fd);
    if (fcntl(fd, F_GET_SEALS) != SEALS || fstat(fd, &s) < 0)
        rc = -EPERM;
    else
        rc = (m->bytes = (size_t)s.st_size, memory_map(m, mapped));
    if (rc < 0)
        memory_close(m);
    return rc;
}

static struct flock byte_of(unsigned rank)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
}

int memory_live_as(const struct memory *m, unsigned rank)
{
    struct flock byte = byte_of(rank);
    return fcntl(m->file.fd, F_SETLK, &byte) < 0 ? -errno : 0;
}

bool memory_lives(const struct memory *m, unsigned rank)
{
    struct flock byte = byte_of(rank);
    return fcntl(m->file.fd, F_GETLK, &byte) < 0 || byte.l_type != F_UNLCK;
}

void memory_sleep(struct local_word *word, uint32_t value, uint64_t ns)
{
    const struct timespec limit = {.tv_sec = (time_t)(ns / NS_PER_SECOND),
                                   .tv_nsec = (long)(ns % NS_PER_SECOND)};
    atomic_fetch_add(&word->sleepers, 1);
    syscall(SYS_futex, &word->value, FUTEX_WAIT, value, &limit, NULL, 0);
    atomic_fetch_sub(&word->sleepers, 1);
}

void memory_wake(struct local_word *word)
{
    syscall(SYS_futex, &word->value, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void memory_wake_sleepers(struct local_word *word)
{
    if (atomic_load(&word->sleepers) > 0)
        memory_wake(word);
}

void memory_close(struct memory *m)
{
    unmap(m);
    own_fd_close(&m->file);
}
