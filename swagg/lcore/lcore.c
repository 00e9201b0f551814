#include "lcore/lcore.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include <sys/prctl.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "base/clock.h"
#include "base/log.h"
#include "lcore/priority.h"

enum {
    YIELD_EVERY = 16,        /* rounds without work */
    YIELD_LONG_NS = 1000000, /* a program that keeps the CPU longer is computing */
    YIELD_SHARE = 32,        /* the next offer comes after so many times as long */
};

struct idle {
    uint32_t rounds;        /* without work, in a row */
    uint64_t since_ns;      /* when the first nap of this pause began; 0: it has not napped yet */
    uint64_t keep_until_ns; /* until then, the CPU is not offered to others */
};

/* A nap lasts an eighth of the time that nothing has come, so it delays what comes next by no more than that
 * share. */
static uint64_t nap_ns(struct idle *idle, uint32_t max_us)
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

static void back_off(struct lcore *lc, struct idle *idle)
{
    struct timespec nap = {0};

    if (lc->pace.max_sleep_us == 0 || idle->rounds < lc->pace.spin) {
        if (++idle->rounds % YIELD_EVERY == 0)
            offer_cpu(idle);
        else
            rte_pause();
        return;
    }
    nap.tv_nsec = (long)nap_ns(idle, lc->pace.max_sleep_us);
    /* A sleeping lcore holds no job, so RCU need not wait for it. */
    rte_rcu_qsbr_thread_offline(lc->rcu, lc->index);
    nanosleep(&nap, NULL);
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

unsigned lcore_round(struct lcore *lc, uint64_t now)
{
    unsigned work, taken_over;

    note_stall(lc, now - lc->receive.now);
    set_time(lc, now);
    work = receive_poll(&lc->receive);
    engine_flush(&lc->engine);
    taken_over = engine_collect(&lc->engine);
    count_event(&lc->counters, EVENT_TAKEN_OVER, taken_over);
    work += taken_over;
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
    struct idle idle = {0};

    start(lc);
    rte_rcu_qsbr_thread_register(lc->rcu, lc->index);
    rte_rcu_qsbr_thread_online(lc->rcu, lc->index);

    while (!__atomic_load_n(lc->stop, __ATOMIC_RELAXED)) {
        unsigned work = lcore_round(lc, rte_rdtsc());

        rte_rcu_qsbr_quiescent(lc->rcu, lc->index);
        count_event(&lc->counters, EVENT_ROUNDS, 1);
        if (work == 0) {
            back_off(lc, &idle);
        } else {
            count_event(&lc->counters, EVENT_BUSY_ROUNDS, 1);
            idle.rounds = 0;
            idle.since_ns = 0;
        }
    }

    send_flush(&lc->send);
    rte_rcu_qsbr_thread_offline(lc->rcu, lc->index);
    rte_rcu_qsbr_thread_unregister(lc->rcu, lc->index);
    return 0;
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
