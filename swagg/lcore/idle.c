#include "lcore/idle.h"

#include <sched.h>
#include <time.h>

#include <rte_common.h>
#include <rte_pause.h>

#include "monotonic.h"

enum {
    PATIENCE_NS = 10000, /* about what it costs to sleep and be woken */
    NAP_NS = 1000,       /* the first nap of a pause */
};

void idle_init(struct idle *idle, const struct receive *receive, struct bell *bell)
{
    *idle = (struct idle){.bell = bell, .fds = 1, .fd[0] = {.fd = bell->fd, .events = POLLIN}};
    for (unsigned i = 0; i < receive->queues; i++) {
        const struct port *port = &receive->port[receive->queue[i].port];

        if (port->device->receive_fd != NULL)
            idle->fd[idle->fds++] = (struct pollfd){
                .fd = port->device->receive_fd(port, receive->queue[i].queue), .events = POLLIN};
    }
    idle->frames_wake = idle->fds == 1 + receive->queues;
}

/* A nap lasts an eighth of the time that nothing has come, so it delays what comes next by no more than that
 * share. */
static uint64_t patient_ns(struct idle *idle, const struct lcore_pace *pace)
{
    const uint64_t now = monotonic_ns();

    if (idle->since_ns == 0)
        idle->since_ns = now;
    return RTE_MIN((now - idle->since_ns) / 8 + NAP_NS, pace->max_sleep_us * UINT64_C(1000));
}

uint64_t idle_nap_ns(struct idle *idle, const struct lcore_pace *pace, uint64_t due_in_ns)
{
    const uint64_t bound = idle->frames_wake ? pace->until_due_us * UINT64_C(1000) : patient_ns(idle, pace);

    return RTE_MIN(bound, due_in_ns);
}

static void offer_cpu(struct offer *offer, uint64_t now)
{
    uint64_t before;

    offer_begin(offer, now);
    do {
        before = now;
        sched_yield();
        now = monotonic_ns();
    } while (offer_again(offer, before, now));
}

/* A thread that does not offer its CPU but spins uses its time slice up for nothing. One that sleeps gets the
 * CPU back when a frame comes; so where others compute it naps, if frames can wake it, once it has spun for
 * about as long as that costs. What it would spin longer is taken from who has something to do: of five
 * switches whose lcores shared a CPU each found its packets up to 16 ms late while the others spun for 64
 * rounds a pause. */
bool idle_spin(struct idle *idle, const struct lcore_pace *pace)
{
    if (pace->max_sleep_us != 0 && idle->rounds >= pace->spin)
        return false;
    rte_pause();
    const uint64_t now = monotonic_ns();
    if (idle->rounds++ == 0)
        idle->began_ns = now;
    idle->contended = offer_is_contended(&idle->offer, now);
    if (idle->contended)
        return now - idle->began_ns < PATIENCE_NS || pace->max_sleep_us == 0 || !idle->frames_wake;
    if (offer_is_due(&idle->offer, now))
        offer_cpu(&idle->offer, now);
    return true;
}

void idle_nap(struct idle *idle, uint64_t ns)
{
    const struct timespec nap = {.tv_sec = (time_t)(ns / NS_PER_SECOND),
                                 .tv_nsec = (long)(ns % NS_PER_SECOND)};

    idle->fd[0].revents = 0; /* as it stays if a signal comes */
    ppoll(idle->fd, idle->fds, &nap, NULL);
    bell_answer(idle->bell, idle->fd[0].revents != 0);
}

void idle_end(struct idle *idle)
{
    idle->rounds = 0;
    idle->since_ns = 0;
}

enum {
    EVERY_NS = 1000,              /* less than a round over a few of the kernel's ports takes */
    TAKEN_NS = 1000,              /* an offer that nobody takes is over sooner */
    OFFERS_MAX = 12,              /* in a turn; nine, and a few more for programs that had more lately */
    WANTED_NS = 100000,           /* somebody who took it will want it again, for so long */
    TAKEN_LONG_NS = 1000000,      /* whoever keeps it longer is computing */
    CONTENDED_SHARE = 32,         /* then it is not offered for so many times as long ... */
    CONTENDED_NS_MAX = 100000000, /* ... but no longer: the whole machine may have stood still */
};

bool offer_is_due(const struct offer *o, uint64_t now)
{
    return now - o->offered_ns >= EVERY_NS && !offer_is_contended(o, now);
}

void offer_begin(struct offer *o, uint64_t now)
{
    o->left = now < o->wanted_until_ns ? OFFERS_MAX : 1;
}

static uint64_t contended_for(uint64_t taken)
{
    return taken < CONTENDED_NS_MAX / CONTENDED_SHARE ? taken * CONTENDED_SHARE : CONTENDED_NS_MAX;
}

bool offer_again(struct offer *o, uint64_t before, uint64_t after)
{
    const uint64_t taken = after - before;

    o->offered_ns = after;
    if (taken < TAKEN_NS)
        return --o->left > 0;
    o->wanted_until_ns = after + WANTED_NS;
    if (taken > TAKEN_LONG_NS)
        o->contended_until_ns = after + contended_for(taken);
    return false;
}
