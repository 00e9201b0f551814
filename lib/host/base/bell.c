#include "base/bell.h"

#include <errno.h>
#include <unistd.h>

#include <sys/eventfd.h>

int bell_open(struct bell *bell)
{
    bell->awaited = false;
    bell->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return bell->fd < 0 ? -errno : 0;
}

void bell_close(struct bell *bell)
{
    if (bell->fd >= 0)
        close(bell->fd);
    bell->fd = -1;
}

/* The fences order, on either side, one's own store before one's look at the other's. */
void bell_ring(struct bell *bell)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell->awaited, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&bell->awaited, false, __ATOMIC_RELAXED))
        eventfd_write(bell->fd, 1);
}

void bell_await(struct bell *bell)
{
    __atomic_store_n(&bell->awaited, true, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void bell_answer(struct bell *bell, bool rung)
{
    eventfd_t times;

    __atomic_store_n(&bell->awaited, false, __ATOMIC_RELAXED);
    if (rung)
        eventfd_read(bell->fd, &times);
}
