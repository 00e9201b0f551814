#include "lcore/idle.h"

#include <sched.h>
#include <time.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "base/clock.h"

enum {
    YIELD_EVERY_NS = 1000,   /* less than a round over a few of the kernel's ports takes */
    PATIENT_ROUNDS = 64,     /* about what the ranks of a small call take to send the next packet */
    YIELD_LONG_NS = 1000000, /* a program that keeps the CPU longer is computing */
    YIELD_SHARE = 32,        /* the CPU is not offered to it again for so many times as long */
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
 * CPU. MPI's processes offer theirs after every look, so they get no more of it than they are offered: an
 * lcore that shared a CPU with two of them, and offered it every 16 rounds, left them 4 us of 90. */
static void offer_cpu(struct idle *idle, uint64_t now)
{
    sched_yield();
    idle->offered_ns = clock_ns();
    const uint64_t taken = idle->offered_ns - now;
    if (taken > YIELD_LONG_NS)
        idle->contended_until_ns = now + taken * YIELD_SHARE;
}

/* A program that computes keeps a CPU that it is offered for its whole time slice, and a thread that does not
 * offer it but spins uses its own up for nothing. One that sleeps gets the CPU back when a frame comes; so
 * then it naps, if frames can wake it. */
bool idle_spin(struct idle *idle, const struct lcore_pace *pace)
{
    if (pace->max_sleep_us != 0 && idle->rounds >= pace->spin)
        return false;
    rte_pause();
    idle->rounds++;
    const uint64_t now = clock_ns();
    if (now - idle->offered_ns < YIELD_EVERY_NS)
        return true;
    if (now < idle->contended_until_ns)
        return idle->rounds < PATIENT_ROUNDS || pace->max_sleep_us == 0 || idle->fds == 0;
    offer_cpu(idle, now);
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
