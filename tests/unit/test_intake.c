/* What is let in of control messages: members are known, and whoever sends too much loses his own. */
#include "control/intake.h"

#include "unit.h"

#define SECOND UINT64_C(1000000000)

enum { WORKERS = 8, AT_ONCE = 256, PER_SECOND = 64, OF_MEMBER = 64, OF_MEMBER_PER_SECOND = 128, MANY = 5000 };

static struct ctl_intake_rules rules;
static struct ctl_intake intake;
static const uint64_t start = 1000 * SECOND;

static struct ctl_endpoint host(unsigned i)
{
    return (struct ctl_endpoint){.ip = i, .udp_port = 4000, .port = 1, .mac = {2, 0, 0, 0, 0, (uint8_t)i}};
}

/* Process i is on host i. */
static uint64_t process(unsigned i)
{
    return UINT64_C(0x123456789abcdef) * (i + 1);
}

static void set_up(unsigned members)
{
    ctl_intake_rules_init(&rules, WORKERS, 7);
    ctl_intake_init(&intake, &rules);
    ctl_known_begin(&rules.members);
    for (unsigned i = 0; i < members; i++) {
        const struct ctl_endpoint at = host(i);
        ctl_known_add(&rules.members, process(i), &at);
    }
    ctl_known_show(&rules.members);
}

static enum ctl_intake_verdict say(uint64_t incarnation, struct ctl_endpoint from, bool above, uint64_t now)
{
    const struct ctl_message m = {
        .head = {.type = CTL_HEARTBEAT, .version = CTL_VERSION, .incarnation = incarnation, .size = 1}};
    uint8_t payload[CTL_MESSAGE_MAX];

    return ctl_intake_admit(&intake, &from, above, payload, ctl_build(payload, &m), now);
}

/* How many of so many at once are let in. */
static unsigned let_in(uint64_t incarnation, struct ctl_endpoint from, unsigned attempts, uint64_t now)
{
    unsigned n = 0;

    while (attempts-- > 0)
        n += say(incarnation, from, false, now) <= CTL_INTAKE_STRANGER;
    return n;
}

TEST(members_are_told_from_strangers)
{
    set_up(WORKERS);
    CU_ASSERT_EQUAL(say(process(3), host(3), false, start), CTL_INTAKE_MEMBER);
    CU_ASSERT_EQUAL(say(process(WORKERS), host(3), false, start), CTL_INTAKE_STRANGER);
    CU_ASSERT_EQUAL(say(process(3), host(4), false, start), CTL_INTAKE_STRANGER);
    CU_ASSERT_EQUAL(say(process(3), host(3), true, start), CTL_INTAKE_STRANGER);
    struct ctl_endpoint elsewhere = host(3);
    elsewhere.network = 1;
    CU_ASSERT_EQUAL(say(process(3), elsewhere, false, start), CTL_INTAKE_STRANGER);
    elsewhere = host(3);
    elsewhere.mac[0] = 6; /* another network card has taken over */
    CU_ASSERT_EQUAL(say(process(3), elsewhere, false, start), CTL_INTAKE_MEMBER);
    set_up(0);
    CU_ASSERT_EQUAL(say(process(3), host(3), false, start), CTL_INTAKE_STRANGER);
    CU_ASSERT_EQUAL(ctl_intake_admit(&intake, &elsewhere, false, (const uint8_t *)"x", 1, start),
                    CTL_INTAKE_STRANGER);
}

TEST(what_the_switch_above_says_of_a_process_is_let_in_like_it)
{
    set_up(0);
    ctl_known_begin(&rules.members);
    ctl_known_add(&rules.members, process(1), NULL);
    ctl_known_show(&rules.members);
    CU_ASSERT_EQUAL(say(process(1), host(200), true, start), CTL_INTAKE_MEMBER);
    CU_ASSERT_EQUAL(say(process(2), host(200), true, start), CTL_INTAKE_STRANGER);
    CU_ASSERT_EQUAL(say(process(1), host(200), false, start), CTL_INTAKE_STRANGER);
}

TEST(a_stranger_has_a_rate)
{
    set_up(0);
    CU_ASSERT_EQUAL(let_in(process(1), host(1), MANY, start), AT_ONCE);
    CU_ASSERT_EQUAL(say(process(1), host(1), false, start), CTL_INTAKE_STRANGER_RATE);
    CU_ASSERT_EQUAL(let_in(process(9), host(1), 1, start), 0); /* another process of that host */
    CU_ASSERT_EQUAL(let_in(process(1), host(2), MANY, start), AT_ONCE);
    CU_ASSERT_EQUAL(let_in(process(1), host(1), MANY, start + SECOND), PER_SECOND);
}

/* A rank is a stranger for two JOINs, and all ranks may be on one host. */
TEST(all_ranks_of_a_host_may_join_at_once)
{
    set_up(0);
    ctl_intake_rules_follow(&rules, 1024);
    CU_ASSERT_EQUAL(let_in(process(1), host(1), MANY, start), 2048);
}

TEST(a_member_that_floods_costs_no_other)
{
    set_up(WORKERS);
    CU_ASSERT_EQUAL(let_in(process(1), host(1), MANY, start), OF_MEMBER);
    CU_ASSERT_EQUAL(say(process(1), host(1), false, start), CTL_INTAKE_MEMBER_RATE);
    CU_ASSERT_EQUAL(let_in(process(1), host(1), MANY, start + SECOND / 4), OF_MEMBER_PER_SECOND / 4);
    for (unsigned i = 2; i < WORKERS; i++)
        CU_ASSERT_EQUAL(let_in(process(i), host(i), MANY, start), OF_MEMBER);
    CU_ASSERT_EQUAL(let_in(process(WORKERS), host(1), MANY, start), AT_ONCE);
}

/* He is behind another port, and knows all of the member's messages. */
TEST(a_forger_behind_another_port_uses_up_no_members_rate)
{
    struct ctl_endpoint there = host(1);

    set_up(WORKERS);
    there.port = 2;
    CU_ASSERT_EQUAL(let_in(process(1), there, MANY, start), OF_MEMBER);
    CU_ASSERT_EQUAL(let_in(process(1), host(1), MANY, start), OF_MEMBER);
    CU_ASSERT_EQUAL(let_in(process(WORKERS), there, MANY, start), AT_ONCE);
    CU_ASSERT_EQUAL(let_in(process(WORKERS), host(1), MANY, start), AT_ONCE);
}

TEST(nobody_is_taken_for_a_member_who_is_none)
{
    enum { MEMBERS = 10000, STRANGERS = 100000 };
    unsigned members = 0, taken = 0;

    set_up(MEMBERS);
    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct ctl_endpoint at = host(i);
        members += ctl_known_find(&rules.members, process(i), &at) != 0;
    }
    for (unsigned i = MEMBERS; i < MEMBERS + STRANGERS; i++) {
        const struct ctl_endpoint at = host(i);
        taken += ctl_known_find(&rules.members, process(i), &at) != 0;
    }
    CU_ASSERT_EQUAL(members, MEMBERS);
    CU_ASSERT(taken < STRANGERS / 1000);
}
