/* The caller's other communication: whoever is in a collective drives it, and not more often than it must. */
#include <stdatomic.h>
#include <stdint.h>

#include "crew.h"
#include "monotonic.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

/* A rank that waits in a collective lets other communication go on; here rank 1 waits for just that. */
static void count_progress(void *ctx)
{
    atomic_fetch_add((atomic_uint *)ctx, 1);
}

static int wait_for_progress(struct crew_member *m)
{
    atomic_uint *calls = m->crew->options.progress_ctx;
    while (m->rank == 1 && atomic_load(calls) < 20)
        sleep_ms(1);
    struct tensor tensor = {.type = SWAGG_F64, .count = 10, .seed = seed};
    return crew_sum(m, &tensor, -1, false);
}

TEST(a_waiting_call_drives_other_communication)
{
    atomic_uint calls = 0;
    struct crew crew = crew_of(2, the_switch, "progress", wait_for_progress, NULL);
    crew.options.progress = count_progress;
    crew.options.progress_ctx = &calls;
    crew_succeed(&crew);
}

/* When the rank whose thread this is drove it last, and how soon after the time before at the least. */
static _Thread_local uint64_t driven, least;

static void note_time(void *unused)
{
    const uint64_t now = monotonic_ns();
    (void)unused;
    if (driven != 0 && now - driven < least)
        least = now - driven;
    driven = now;
}

static int sum_in_a_row(struct crew_member *m)
{
    struct tensor tensor = {.type = SWAGG_F32, .count = 2, .seed = seed};
    uint64_t *result = m->crew->arg;
    int rc = 0;
    driven = 0;
    least = UINT64_MAX;
    for (int i = 0; i < 1000 && rc == 0; i++)
        rc = crew_sum(m, &tensor, -1, false);
    result[m->rank] = least;
    return driven == 0 ? -1 : rc;
}

/* A small call takes less than half a millisecond; to drive it in each would take half as long again. */
TEST(small_calls_in_a_row_do_not_each_drive_it)
{
    uint64_t between[2];
    struct crew crew = crew_of(2, the_switch, "row", sum_in_a_row, between);
    crew.options.progress = note_time;
    crew_succeed(&crew);
    for (int r = 0; r < 2; r++)
        CU_ASSERT(between[r] >= NS_PER_MS / 2);
}
