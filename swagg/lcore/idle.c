#include "lcore/idle.h"

#include <sched.h>
#include <time.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "base/clock.h"

enum {
    YIELD_EVERY = 16,        /* rounds without work */
    YIELD_LONG_NS = 1000000, /* a program that keeps the CPU longer is computing */
    YIELD_SHARE = 32,        /* the next offer comes after so many times as long */
};

void idle_init(struct idle *idle, const struct receive *receive)
{
    *idle = (struct idle){0};
    for (unsigned i = 0; i < receive->queues; i++) {
        const struct port *port = &receive->port[receive->queue[i].port];

        if (port->device->receive_fd != NULL)
            idle->fd[idle->fds++] = (struct pollfd){
                .fd = port->device->receive_fd(port, receive->queue[i].queue), .events = POLLIN};
    }
}

/* A nap lasts an eighth of the time that nothing has come, so it delays what comes next by no more than that
 * share. */
uint64_t idle_nap_ns(struct idle *idle, uint32_t max_us)
{
    uint64_t now = clock_ns(), bound = max_us * UINT64_C(1000), ns;

    if (idle->since_ns == 0)
        idle->since_ns = now;
    ns = (now - idle->since_ns) / 8 + 1000;
    return RTE_MIN(ns, bound);
}

/* If the hosts run on this machine, too, the program that the lcore waits for may be waiting for the lcore's
 * CPU. */
static void offer_cpu(struct idle *idle)
{
    const uint64_t before = clock_ns();
    uint64_t taken;

    if (before < idle->keep_until_ns)
        return;
    sched_yield();
    taken = clock_ns() - before;
    if (taken > YIELD_LONG_NS)
        idle->keep_until_ns = before + taken * YIELD_SHARE;
}

bool idle_spin(struct idle *idle, const struct lcore_pace *pace)
{
    if (pace->max_sleep_us != 0 && idle->rounds >= pace->spin)
        return false;
    if (++idle->rounds % YIELD_EVERY == 0)
        offer_cpu(idle);
    else
        rte_pause();
    return true;
}

void idle_nap(struct idle *idle, uint64_t ns)
{
    const struct timespec nap = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

    ppoll(idle->fd, idle->fds, &nap, NULL);
}

void idle_end(struct idle *idle)
{
    idle->rounds = 0;
    idle->since_ns = 0;
}
