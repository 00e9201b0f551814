#include "lcore/stalls.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "monotonic.h"

#define TELL_EVERY_NS (10 * NS_PER_SECOND)

bool stall_times(const struct lcore *lc, struct stall_times *times)
{
    char path[64];
    FILE *file;
    bool told;

    snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", __atomic_load_n(&lc->tid, __ATOMIC_RELAXED));
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    told = fscanf(file, "%" SCNu64 " %" SCNu64, &times->ran_ns, &times->waited_ns) == 2;
    fclose(file);
    return told;
}

/* What the thread did for most of that time, and what helps. */
static const char *reason(uint64_t ms, uint64_t ran, uint64_t waited)
{
    if (2 * waited >= ms)
        return "other programs had its CPU: see \"CPUs\" in docs/configuration.md";
    if (2 * ran >= ms)
        return "it was in the kernel, in a system call or an interrupt";
    return "it was stopped, or the machine stood still or lacked memory";
}

static void tell(const struct lcore *lc, uint64_t stalls, uint64_t ms, const struct stall_times *was,
                 const struct stall_times *is)
{
    const uint64_t ran = RTE_MIN((is->ran_ns - was->ran_ns) / NS_PER_MS, ms);
    const uint64_t waited = RTE_MIN((is->waited_ns - was->waited_ns) / NS_PER_MS, ms);

    log_warning("lcore %u on CPU %d stood still %" PRIu64 " times, %" PRIu64
                " ms in all; about then it waited %" PRIu64 " ms for its CPU and ran %" PRIu64 " ms: %s",
                lc->eal_id, lcore_cpu(lc), stalls, ms, waited, ran, reason(ms, ran, waited));
}

static void look_at(struct stall_seen *seen, const struct lcore *lc, uint64_t now)
{
    const uint64_t stalls = counter_read(&lc->counters.event[EVENT_STALLS]);
    const uint64_t ms = counter_read(&lc->counters.event[EVENT_STALLED_MS]);
    const uint64_t rounds = counter_read(&lc->counters.event[EVENT_ROUNDS]);
    struct stall_times times = {0};

    if (rounds ==
        seen->rounds) /* no round since: only when it moves again can be told how long it stood still */
        return;
    if (stalls != seen->stalls && seen->told_at != 0 && now - seen->told_at < TELL_EVERY_NS)
        return;
    stall_times(lc, &times);
    if (stalls != seen->stalls) {
        tell(lc, stalls - seen->stalls, ms - seen->ms, &seen->was, &times);
        seen->told_at = now;
    }
    seen->rounds = rounds;
    seen->stalls = stalls;
    seen->ms = ms;
    seen->was = times;
}

void stalls_tell(struct stall_watch *w, struct lcore *const lcore[], unsigned lcores, uint64_t now)
{
    for (unsigned i = 0; i < lcores; i++)
        look_at(&w->lcore[i], lcore[i], now);
}
