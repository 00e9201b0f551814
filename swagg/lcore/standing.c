#include "lcore/standing.h"

#include <errno.h>
#include <sys/resource.h>

enum {
    SWITCHED_MS = 100,   /* more may come for so long */
    CONTENDED_MS = 1000, /* whoever computes may come back for so long */
    LONG_ROUND_MS = 1,   /* somebody had the CPU meanwhile */
    WORK_MS = 100,       /* who pauses may go on in so long */
};

int standing_init(struct standing *s, uint64_t cycles_per_ms)
{
    const int nice = getpriority(PRIO_PROCESS, 0);

    *s = (struct standing){.cycles_per_ms = cycles_per_ms, .first = nice, .beside = nice, .now = nice};
    if (nice <= FIRST_NICE)
        return 0;
    if (setpriority(PRIO_PROCESS, 0, FIRST_NICE) < 0)
        return -errno;
    s->first = s->now = FIRST_NICE;
    return 0;
}

static void go_first(struct standing *s, uint64_t now, unsigned ms)
{
    const uint64_t until = now + ms * s->cycles_per_ms;

    if (until > s->first_until)
        s->first_until = until;
}

void standing_note_work(struct standing *s, uint64_t switched, uint64_t began, uint64_t now)
{
    s->worked_at = now;
    if (switched != s->switched)
        go_first(s, now, SWITCHED_MS);
    if (now - began >= LONG_ROUND_MS * s->cycles_per_ms)
        standing_note_contended(s, now);
    s->switched = switched;
}

void standing_note_contended(struct standing *s, uint64_t now)
{
    go_first(s, now, CONTENDED_MS);
}

int standing_nice(const struct standing *s, uint64_t now)
{
    const bool works = s->worked_at != 0 && now - s->worked_at < WORK_MS * s->cycles_per_ms;

    return works && now >= s->first_until ? s->beside : s->first;
}

void standing_take(struct standing *s, uint64_t now)
{
    const int nice = standing_nice(s, now);

    if (nice != s->now && setpriority(PRIO_PROCESS, 0, nice) == 0)
        s->now = nice;
}
