#include "lcore/lcore.h"

#include <string.h>

#include <sys/prctl.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include "base/log.h"
#include "lcore/idle.h"
#include "lcore/priority.h"

enum { SHARING_POLLS = 4 };

static void back_off(struct lcore *lc, struct idle *idle)
{
    uint64_t ns;

    if (idle_spin(idle, &lc->pace))
        return;
    ns = idle_nap_ns(idle, lc->pace.max_sleep_us);
    /* A sleeping lcore holds no job, so RCU need not wait for it. */
    rte_rcu_qsbr_thread_offline(lc->rcu, lc->index);
    idle_nap(idle, ns);
    rte_rcu_qsbr_thread_online(lc->rcu, lc->index);
    count_event(&lc->counters, EVENT_SLEEPS, 1);
}

static void set_time(struct lcore *lc, uint64_t now)
{
    lc->receive.now = lc->engine.now = lc->send.now = now;
}

/* Counts a stall if the last round is too long ago (stalls.h). */
static void note_stall(struct lcore *lc, uint64_t pause)
{
    if (pause < lc->pace.stall)
        return;
    count_event(&lc->counters, EVENT_STALLS, 1);
    count_event(&lc->counters, EVENT_STALLED_MS, (unsigned)(pause / lc->pace.cycles_per_ms));
}

/* While jobs share this lcore, frames come in faster than they are served, so that they wait by job and not
 * in the ports' rings. */
static unsigned receive_round(struct lcore *lc)
{
    unsigned frames = receive_poll(&lc->receive);

    for (unsigned i = 1; i < SHARING_POLLS && lc->engine.sharing && lc->receive.full; i++)
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

static void start(struct lcore *lc)
{
    const int rc = priority_raise_thread();

    if (rc < 0)
        log_info("lcore %u stays at the priority of other programs: %s", lc->eal_id, strerror(-rc));
    prctl(PR_SET_TIMERSLACK, 1000); /* ns; the default of 50 us would lengthen every nap */
    __atomic_store_n(&lc->tid, rte_sys_gettid(), __ATOMIC_RELAXED);
    set_time(lc, rte_rdtsc());
}

int lcore_run(void *lcore)
{
    struct lcore *lc = lcore;
    struct idle idle;
    unsigned work = 0;

    start(lc);
    idle_init(&idle, &lc->receive);
    rte_rcu_qsbr_thread_register(lc->rcu, lc->index);
    rte_rcu_qsbr_thread_online(lc->rcu, lc->index);

    while (!__atomic_load_n(lc->stop, __ATOMIC_RELAXED)) {
        const uint64_t now = rte_rdtsc();

        if (work > 0) /* in the last round, which ends here */
            counter_add(&lc->busy, now - lc->receive.now);
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
    const uint64_t elapsed = now - lc->share.at;

    if (lc->share.at != 0 && elapsed > 0)
        __atomic_store_n(&lc->share.percent, (unsigned)RTE_MIN(100 * (busy - lc->share.busy) / elapsed, 100u),
                         __ATOMIC_RELAXED);
    lc->share.busy = busy;
    lc->share.at = now;
}

unsigned lcore_busy_percent(const struct lcore *lc)
{
    return __atomic_load_n(&lc->share.percent, __ATOMIC_RELAXED);
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
