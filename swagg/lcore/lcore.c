#include "lcore/lcore.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/log.h"
#include "monotonic.h"

void priority_raise_session(void)
{
    int nice_value;
    FILE *group;

    if (getsid(0) != getpid())
        return;
    group = fopen("/proc/self/autogroup", "r+e");
    if (group == NULL)
        return;
    if (fscanf(group, "/autogroup-%*d nice %d", &nice_value) == 1 && nice_value > FIRST_NICE) {
        rewind(group);
        fprintf(group, "%d", FIRST_NICE);
    }
    fclose(group);
}

enum { SHARING_POLLS = 4 };

/* When time alone gives it work next, TSC; UINT64_MAX: it does not. */
static uint64_t due_at(const struct lcore *lc)
{
    const struct receive *r = &lc->receive;
    const struct send *s = &lc->send;
    uint64_t at = engine_due_at(&lc->engine);

    for (unsigned i = 0; i < r->queues; i++)
        at = RTE_MIN(at, port_queue_due_at(&r->port[r->queue[i].port].rx[r->queue[i].queue]));
    for (uint64_t left = __atomic_load_n(&s->impaired, __ATOMIC_RELAXED); left != 0; left &= left - 1)
        at = RTE_MIN(at, port_queue_due_at(&s->port[rte_bsf64(left)].tx[s->queue[rte_bsf64(left)]]));
    return at;
}

static uint64_t due_in_ns(const struct lcore *lc)
{
    const uint64_t at = due_at(lc), now = rte_rdtsc();

    if (at == UINT64_MAX)
        return at;
    return at > now ? (uint64_t)((double)(at - now) * lc->engine.ns_per_cycle) : 0;
}

/* Whether others have left something for it. */
static bool is_wanted(const struct lcore *lc)
{
    return __atomic_load_n(lc->stop, __ATOMIC_RELAXED) ||
           __atomic_load_n(&lc->tasks, __ATOMIC_RELAXED) != lc->taken || engine_is_wanted(&lc->engine) ||
           send_is_wanted(&lc->send);
}

static void back_off(struct lcore *lc, struct idle *idle)
{
    const bool spins = idle_spin(idle, &lc->pace);
    uint64_t ns;

    if (idle->contended)
        standing_note_contended(&lc->standing, lc->receive.now);
    if (spins)
        return;
    ns = idle_nap_ns(idle, &lc->pace, due_in_ns(lc));
    bell_await(&lc->bell);
    if (is_wanted(lc)) {
        bell_answer(&lc->bell, false);
        return;
    }
    /* A sleeping lcore holds no job, so RCU need not wait for it. */
    rte_rcu_qsbr_thread_offline(lc->rcu, lc->index);
    idle_nap(idle, ns);
    rte_rcu_qsbr_thread_online(lc->rcu, lc->index);
    lc->rested = ns * lc->pace.cycles_per_ms / NS_PER_MS;
    count_event(&lc->counters, EVENT_SLEEPS, 1);
}

static void set_time(struct lcore *lc, uint64_t now)
{
    lc->receive.now = lc->engine.now = lc->send.now = now;
}

/* Counts a stall if the last round is too long ago (stalls.h), and it has not just slept. */
static void note_stall(struct lcore *lc, uint64_t pause)
{
    const uint64_t rested = RTE_MIN(lc->rested, pause);

    lc->rested = 0;
    pause -= rested;
    if (pause < lc->pace.stall)
        return;
    count_event(&lc->counters, EVENT_STALLS, 1);
    count_event(&lc->counters, EVENT_STALLED_MS, (unsigned)(pause / lc->pace.cycles_per_ms));
}

/* While jobs share this lcore, frames of those that have had their part must not keep the others' waiting in
 * the ports' rings: they come in until there is a burst to handle. */
static unsigned receive_round(struct lcore *lc)
{
    unsigned frames = receive_poll(&lc->receive);

    for (unsigned i = 1; i < SHARING_POLLS && engine_wants_more(&lc->engine) && lc->receive.full; i++)
        frames += receive_poll(&lc->receive);
    lc->engine.pressed = lc->receive.full;
    return frames;
}

unsigned lcore_round(struct lcore *lc, uint64_t now)
{
    unsigned work, taken_over;

    note_stall(lc, now - lc->receive.now);
    set_time(lc, now);
    engine_begin(&lc->engine);
    work = receive_round(lc);
    engine_flush(&lc->engine);
    taken_over = engine_collect(&lc->engine);
    count_event(&lc->counters, EVENT_TAKEN_OVER, taken_over);
    work += taken_over + engine_serve(&lc->engine);
    engine_tick(&lc->engine);
    work += send_collect(&lc->send);
    if (work == 0) /* no frame waits while the lcore naps */
        send_flush(&lc->send);
    else
        send_flush_due(&lc->send);
    return work;
}

void lcore_assign(struct lcore *lc, const struct lcore_tasks *tasks)
{
    struct lcore_tasks *next = &lc->copy[lc->tasks == &lc->copy[0]];

    *next = *tasks;
    __atomic_store_n(&lc->tasks, next, __ATOMIC_RELEASE);
    bell_ring(&lc->bell);
}

bool lcore_has_taken(const struct lcore *lc)
{
    return __atomic_load_n(&lc->taken, __ATOMIC_ACQUIRE) == lc->tasks;
}

unsigned lcore_rx_queues(const struct lcore *lc, struct port_queue_id queue[PORT_QUEUES_MAX])
{
    const struct placement_lcore *has = &lc->tasks->queues;
    unsigned n = 0;

    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
            if (has->rx[q] & RTE_BIT64(p))
                queue[n++] = (struct port_queue_id){.port = (uint8_t)p, .queue = (uint8_t)q};
    return n;
}

unsigned lcore_tx_queues(const struct lcore *lc, struct port_queue_id queue[PORT_QUEUES_MAX])
{
    unsigned n = 0;

    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++) {
        const int q = placement_tx_queue(&lc->tasks->queues, p);

        if (q >= 0)
            queue[n++] = (struct port_queue_id){.port = (uint8_t)p, .queue = (uint8_t)q};
    }
    return n;
}

static void take_receiving(struct lcore *lc, const struct lcore_tasks *t)
{
    struct receive *r = &lc->receive;

    r->queues = lcore_rx_queues(lc, r->queue);
    r->link_local = t->link_local;
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        for (enum config_storm_kind kind = 0; kind < CONFIG_STORM_KINDS; kind++)
            storm_set(&r->storm[p], kind, t->storm[p].frames[kind], rte_get_tsc_hz());
}

static void take_sending(struct lcore *lc, const struct lcore_tasks *t)
{
    struct port_queue_id queue[PORT_QUEUES_MAX];
    const unsigned queues = lcore_tx_queues(lc, queue);
    struct send *s = &lc->send;

    s->ports = t->ports;
    s->delay = t->tx_delay;
    s->for_others = t->queues.tx[0];
    s->own = 0;
    for (unsigned i = 0; i < queues; i++) {
        s->own |= RTE_BIT64(queue[i].port);
        s->queue[queue[i].port] = queue[i].queue;
    }
}

bool lcore_take(struct lcore *lc)
{
    const struct lcore_tasks *t = __atomic_load_n(&lc->tasks, __ATOMIC_ACQUIRE);

    if (t == lc->taken)
        return false;
    /* What others have handed over for its ports, but not what they still do: they may do so for ever. */
    for (unsigned n = 0; n < PORT_RING_SIZE / SEND_BURST && send_collect(&lc->send) > 0; n++)
        send_flush(&lc->send);
    send_flush(&lc->send);
    take_receiving(lc, t);
    take_sending(lc, t);
    lc->engine.egress.multi_segment = t->multi_segment;
    lc->pace = t->pace;
    __atomic_store_n(&lc->taken, t, __ATOMIC_RELEASE);
    return true;
}

static void start(struct lcore *lc)
{
    const int rc = standing_init(&lc->standing, rte_get_tsc_hz() / 1000);

    if (rc < 0)
        log_info("lcore %u stays at the priority of other programs: %s", lc->eal_id, strerror(-rc));
    prctl(PR_SET_TIMERSLACK, 1000); /* ns; the default of 50 us would lengthen every nap */
    __atomic_store_n(&lc->tid, rte_sys_gettid(), __ATOMIC_RELAXED);
    set_time(lc, rte_rdtsc());
}

static uint64_t switched(const struct lcore *lc)
{
    return lc->counters.event[EVENT_FORWARDED] + lc->counters.event[EVENT_FLOODED];
}

int lcore_run(void *lcore)
{
    struct lcore *lc = lcore;
    struct idle idle;
    unsigned work = 0;

    start(lc);
    rte_rcu_qsbr_thread_register(lc->rcu, lc->index);
    rte_rcu_qsbr_thread_online(lc->rcu, lc->index);

    while (!__atomic_load_n(lc->stop, __ATOMIC_RELAXED)) {
        const uint64_t now = rte_rdtsc();

        if (lcore_take(lc))
            idle_init(&idle, &lc->receive, &lc->bell);
        if (work > 0) { /* in the last round, which ends here */
            counter_add(&lc->busy, now - lc->receive.now);
            standing_note_work(&lc->standing, switched(lc), lc->receive.now, now);
        }
        standing_take(&lc->standing, now);
        work = lcore_round(lc, now);

        rte_rcu_qsbr_quiescent(lc->rcu, lc->index);
        count_event(&lc->counters, EVENT_ROUNDS, 1);
        if (work == 0) {
            back_off(lc, &idle);
        } else {
            count_event(&lc->counters, EVENT_BUSY_ROUNDS, 1);
            idle_end(&idle);
        }
    }

    send_flush(&lc->send);
    rte_rcu_qsbr_thread_offline(lc->rcu, lc->index);
    rte_rcu_qsbr_thread_unregister(lc->rcu, lc->index);
    return 0;
}

void lcore_look(struct lcore *lc, uint64_t now)
{
    const uint64_t busy = counter_read(&lc->busy);
    const uint64_t elapsed = now - lc->load.at;

    if (lc->load.at != 0 && elapsed > 0)
        __atomic_store_n(&lc->load.percent, (unsigned)RTE_MIN(100 * (busy - lc->load.busy) / elapsed, 100u),
                         __ATOMIC_RELAXED);
    lc->load.busy = busy;
    lc->load.at = now;
}

unsigned lcore_busy_percent(const struct lcore *lc)
{
    return __atomic_load_n(&lc->load.percent, __ATOMIC_RELAXED);
}

/* rte_lcore_to_cpu_id would be wrong: it assumes that lcores and CPUs have the same numbers. */
int lcore_cpu(const struct lcore *lc)
{
    const rte_cpuset_t set = rte_lcore_cpuset(lc->eal_id);
    int cpu = 0;

    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}
