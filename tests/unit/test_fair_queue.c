/* Lanes are served in turn, so a full one does not delay the others. */
#include "registry/fair_queue.h"

#include <string.h>

#include "unit.h"

static struct fair_queue q;
static char name[4][FAIR_QUEUE_PLACES + 1]; /* items: places in here, by lane and order */

static void put(unsigned lane, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        CU_ASSERT(fair_queue_put(&q, lane, &name[lane][i]));
}

TEST(a_full_lane_delays_nobody_in_another)
{
    memset(&q, 0, sizeof(q));
    put(0, FAIR_QUEUE_PLACES);
    CU_ASSERT(!fair_queue_put(&q, 0, &name[0][FAIR_QUEUE_PLACES]));
    put(3, 2);
    CU_ASSERT_PTR_EQUAL(fair_queue_take(&q), &name[0][0]);
    CU_ASSERT_PTR_EQUAL(fair_queue_take(&q), &name[3][0]);
    CU_ASSERT_PTR_EQUAL(fair_queue_take(&q), &name[0][1]);
    CU_ASSERT_PTR_EQUAL(fair_queue_take(&q), &name[3][1]);
    for (unsigned i = 2; i < FAIR_QUEUE_PLACES; i++)
        CU_ASSERT_PTR_EQUAL(fair_queue_take(&q), &name[0][i]);
    CU_ASSERT_PTR_NULL(fair_queue_take(&q));
}

TEST(a_lane_goes_around)
{
    memset(&q, 0, sizeof(q));
    for (unsigned i = 0; i < 3 * FAIR_QUEUE_PLACES; i++) {
        put(1, 1);
        CU_ASSERT_PTR_EQUAL(fair_queue_take(&q), &name[1][0]);
    }
    put(2, FAIR_QUEUE_PLACES);
    CU_ASSERT_EQUAL(q.items, FAIR_QUEUE_PLACES);
}
