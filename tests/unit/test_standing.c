/* Whether an lcore goes before the other programs of its CPU. */
#include "lcore/standing.h"

#include "unit.h"

enum { MS = 1000, FIRST = -10, BESIDE = 3 }; /* cycles; nice values */

static struct standing standing(void)
{
    return (struct standing){.cycles_per_ms = MS, .first = FIRST, .beside = BESIDE, .now = FIRST};
}

TEST(it_goes_first_until_frames_come_and_when_they_come_no_more)
{
    struct standing s = standing();

    CU_ASSERT_EQUAL(standing_nice(&s, 1), FIRST);
    CU_ASSERT_EQUAL(standing_nice(&s, 5000 * MS), FIRST);
    standing_note_work(&s, 0, 5000 * MS, 5000 * MS + 5);
    CU_ASSERT_EQUAL(standing_nice(&s, 5000 * MS + 5), BESIDE);
    CU_ASSERT_EQUAL(standing_nice(&s, 5100 * MS + 4), BESIDE);
    CU_ASSERT_EQUAL(standing_nice(&s, 5100 * MS + 5), FIRST);
}

TEST(it_goes_first_while_it_switches_frames_between_others)
{
    struct standing s = standing();

    standing_note_work(&s, 0, 1000 * MS, 1000 * MS + 5);
    CU_ASSERT_EQUAL(standing_nice(&s, 1000 * MS + 5), BESIDE);
    standing_note_work(&s, 1, 1000 * MS + 5, 1000 * MS + 9);
    CU_ASSERT_EQUAL(standing_nice(&s, 1000 * MS + 9), FIRST);
    standing_note_work(&s, 1, 1100 * MS, 1100 * MS + 8);
    CU_ASSERT_EQUAL(standing_nice(&s, 1100 * MS + 8), FIRST);
    CU_ASSERT_EQUAL(standing_nice(&s, 1100 * MS + 9), BESIDE);
}

TEST(it_goes_first_where_others_compute)
{
    struct standing s = standing();

    standing_note_work(&s, 0, 1000 * MS, 1001 * MS); /* somebody had the CPU in between */
    standing_note_work(&s, 0, 2000 * MS, 2000 * MS + 5);
    CU_ASSERT_EQUAL(standing_nice(&s, 2001 * MS - 1), FIRST);
    CU_ASSERT_EQUAL(standing_nice(&s, 2001 * MS), BESIDE);
    standing_note_contended(&s, 2002 * MS);
    standing_note_work(&s, 1, 2002 * MS, 2002 * MS + 5); /* which is over sooner */
    standing_note_work(&s, 1, 3001 * MS, 3001 * MS + 5);
    CU_ASSERT_EQUAL(standing_nice(&s, 3002 * MS - 1), FIRST);
    CU_ASSERT_EQUAL(standing_nice(&s, 3002 * MS), BESIDE);
}

int main(void)
{
    return unit_main();
}
