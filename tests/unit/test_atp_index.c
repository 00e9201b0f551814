/* Which aggregators the chunks of a job's first window go to. */
#include <string.h>

#include "atp/index.h"
#include "unit.h"

enum { AGGREGATORS = 4096, WINDOW = 1024 };

static unsigned of(uint32_t life, uint32_t sequence)
{
    return atp_index_first(ATP_MAP_REMAP, life, sequence) % AGGREGATORS;
}

TEST(neighbours_differ)
{
    for (uint32_t life = 0; life < 200; life++) {
        bool taken[AGGREGATORS] = {false};
        unsigned twice = 0;
        for (uint32_t i = 0; i < WINDOW; i++) {
            twice += taken[of(life, life + i)];
            taken[of(life, life + i)] = true;
        }
        CU_ASSERT_EQUAL(twice, 0);
    }
}

/* How many of a window's chunks find their aggregator taken by another job, that goes on at the same pace and
 * has so many chunks under way. */
static unsigned meet(uint32_t life, uint32_t other, uint32_t under_way)
{
    unsigned met = 0, taken[AGGREGATORS] = {0}; /* by so many of the other's chunks */

    for (uint32_t j = 0; j < under_way; j++)
        taken[of(other, j)]++;
    for (uint32_t i = 0; i < WINDOW; i++) {
        met += taken[of(life, i)] > 0;
        taken[of(other, i)]--;
        taken[of(other, i + under_way)]++;
    }
    return met;
}

/* With 256 of 4,096 aggregators taken, a sixteenth of the chunks is to meet another's. In step, some jobs'
 * would all do so, and others' none. */
TEST(jobs_are_out_of_step)
{
    const uint32_t pairs = 200;
    unsigned most = 0;

    for (uint32_t i = 0; i < pairs; i++)
        most += meet(splitmix_hash(i) & UINT32_MAX, splitmix_hash(i) >> 32, 256) > WINDOW / 2;
    CU_ASSERT(most <= pairs / 100);
}
