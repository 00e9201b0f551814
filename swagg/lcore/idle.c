#include "lcore/idle.h"

#include <sched.h>
#include <time.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "base/clock.h"

enum { PATIENT_ROUNDS = 64 }; /* about what the ranks of a small call take to send the next packet */

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

static void offer_cpu(struct offer *offer, uint64_t now)
{
    uint64_t before;

    offer_begin(offer, now);
    do {
        before = now;
        sched_yield();
        now = clock_ns();
    } while (offer_again(offer, before, now));
}

/* A thread that does not offer its CPU but spins uses its time slice up for nothing. One that sleeps gets the
 * CPU back when a frame comes; so where others compute it naps early, if frames can wake it. */
bool idle_spin(struct idle *idle, const struct lcore_pace *pace)
{
    if (pace->max_sleep_us != 0 && idle->rounds >= pace->spin)
        return false;
    rte_pause();
    idle->rounds++;
    const uint64_t now = clock_ns();
    if (offer_is_contended(&idle->offer, now))
        return idle->rounds < PATIENT_ROUNDS || pace->max_sleep_us == 0 || idle->fds == 0;
    if (offer_is_due(&idle->offer, now))
        offer_cpu(&idle->offer, now);
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
