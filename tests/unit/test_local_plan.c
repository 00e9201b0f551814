/* Who shares memory with whom, what each has of a block, and what hosts are called. */
#include "local/plan.h"

#include <string.h>

#include "unit.h"

TEST(ranks_are_numbered_on_their_hosts)
{
    const uint64_t ids[] = {7, 9, 7, 0, 9, 7, 0};
    const uint16_t host[] = {0, 1, 0, 2, 1, 0, 3}, number[] = {0, 0, 1, 0, 1, 2, 0};
    struct local_plan plan;
    char text[CTL_RANKS_TEXT_MAX];

    local_plan_make(&plan, ids, 7);
    CU_ASSERT_EQUAL(plan.hosts, 4);
    CU_ASSERT_EQUAL(plan.rails, 1);
    CU_ASSERT(!plan.even);
    for (unsigned rank = 0; rank < 7; rank++) {
        CU_ASSERT_EQUAL(plan.host[rank], host[rank]);
        CU_ASSERT_EQUAL(plan.number[rank], number[rank]);
        CU_ASSERT_EQUAL(local_plan_rank(&plan, host[rank], number[rank]), rank);
    }
    const struct ctl_ranks first = local_plan_ranks(&plan, 0);
    CU_ASSERT_STRING_EQUAL(ctl_ranks_text(&first, text), "ranks 0, 2 and 5");
}

TEST(one_host_has_no_rails)
{
    const uint64_t ids[] = {5, 5, 5};
    struct local_plan plan;

    local_plan_make(&plan, ids, 3);
    CU_ASSERT_EQUAL(plan.hosts, 1);
    CU_ASSERT_EQUAL(plan.rails, 0);
    CU_ASSERT(plan.even);
}

TEST(rails_are_as_many_as_every_host_has_ranks_but_not_too_many)
{
    uint64_t ids[40];
    struct local_plan plan;

    for (unsigned rank = 0; rank < 40; rank++)
        ids[rank] = 1 + rank / 20;
    local_plan_make(&plan, ids, 40);
    CU_ASSERT_EQUAL(plan.rails, LOCAL_RAILS_MAX);
    CU_ASSERT(plan.even);
    local_plan_make(&plan, ids, 23);
    CU_ASSERT_EQUAL(plan.rails, 3);
    CU_ASSERT(!plan.even);
}

TEST(shares_are_all_of_it_and_none_twice)
{
    for (uint64_t elements = 0; elements < 50; elements++)
        for (unsigned n = 1; n < 9; n++)
            for (uint64_t grain = 1; grain < 20; grain += 6) {
                uint64_t next = 0;
                for (unsigned i = 0; i < n; i++) {
                    const struct local_share s = local_share_of(elements, n, i, grain);
                    CU_ASSERT_EQUAL(s.first, next);
                    CU_ASSERT(s.first % grain == 0 || s.count == 0);
                    next += s.count;
                }
                CU_ASSERT_EQUAL(next, elements);
            }
}

TEST(members_of_a_rail_become_hosts)
{
    static const struct {
        const char *says, *means;
    } cases[] = {
        {"rank 1 has left", "host 1 (ranks 2 and 3) has left"},
        {"waiting for ranks 0 and 2", "waiting for host 0 (ranks 0 and 1) and host 2 (rank 4)"},
        {"ranks 0-2, then", "host 0 (ranks 0 and 1), host 1 (ranks 2 and 3), host 2 (rank 4), then"},
        {"ranks 0, 1 and 2 more", "host 0 (ranks 0 and 1), host 1 (ranks 2 and 3) and 2 more"},
        {"host 1 (ranks 2 and 3) has left", "host 1 (ranks 2 and 3) has left"},
        {"rank 7 is none, rank x neither; no rank", "rank 7 is none, rank x neither; no rank"},
        {"rank 0, which", "host 0 (ranks 0 and 1), which"},
        {"", ""},
    };
    const uint64_t ids[] = {1, 1, 2, 2, 3};
    struct local_plan plan;
    char text[200];

    local_plan_make(&plan, ids, 5);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        local_name_hosts(&plan, cases[i].says, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].means);
    }
    local_name_hosts(&plan, "rank 1", text, 8);
    CU_ASSERT_STRING_EQUAL(text, "host 1 ");
}

TEST(a_rail_has_a_name_of_its_own)
{
    const char *const long_names[] = {"0123456789012345678901234567890123456789abcdef0",
                                      "0123456789012345678901234567890123456789abcdef1"};
    char one[CTL_NAME_MAX], other[CTL_NAME_MAX];

    CU_ASSERT_STRING_EQUAL(local_job_name("train-1", "rail", 3, one), "train-1~rail3");
    CU_ASSERT_STRING_NOT_EQUAL(local_job_name(long_names[0], "rail", 0, one),
                               local_job_name(long_names[1], "rail", 0, other));
    CU_ASSERT_STRING_NOT_EQUAL(local_job_name(long_names[0], "rail", 1, other), one);
    CU_ASSERT(strlen(one) < CTL_NAME_MAX);
    CU_ASSERT_EQUAL(strncmp(one, long_names[0], 20), 0);
}
