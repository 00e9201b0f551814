/* What libswagg finds out about the way to the switch before it joins, over real sockets. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "unit.h"

/* What is in force after a job of two ranks with mtu 1500 has summed, around it a network like this. */
static unsigned elements_where(unsigned mtu_in, unsigned mtu_out, enum swagg_checksum checksum)
{
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .mtu_in = mtu_in, .mtu_out = mtu_out});
    struct crew crew = crew_of(2, ls, "narrow", crew_sum_once, NULL);
    crew.options.checksum = checksum;
    crew_succeed(&crew);
    loop_switch_stop(ls);
    return crew.member[0].stats.elements_per_packet;
}

TEST(packets_are_as_long_as_the_path_takes)
{
    CU_ASSERT_EQUAL(elements_where(0, 0, SWAGG_CHECKSUM_NONE), (1500 - 38) / 4);
    CU_ASSERT_EQUAL(elements_where(1500, 1500, SWAGG_CHECKSUM_CRC32C), (1500 - 42) / 4);
    CU_ASSERT_EQUAL(elements_where(1450, 0, SWAGG_CHECKSUM_NONE), (1450 - 38) / 4);
    CU_ASSERT_EQUAL(elements_where(0, 1497, SWAGG_CHECKSUM_NONE), (1492 - 38) / 4);
    CU_ASSERT_EQUAL(elements_where(1300, 600, SWAGG_CHECKSUM_CRC32C), (576 - 42) / 4);
    CU_ASSERT_EQUAL(elements_where(0, 120, SWAGG_CHECKSUM_NONE), (106 - 38) / 4);
}

TEST(losses_are_not_taken_for_a_narrow_path)
{
    struct impair_config link = {.rate = {[IMPAIR_DROP] = {.probability = 0.1}}};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = 1, .in = link, .out = link});
    struct crew crew = crew_of(2, ls, "lossy", crew_sum_once, NULL);
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.elements_per_packet, (1500 - 38) / 4);
    loop_switch_stop(ls);
}

/* The answers to a round of questions come when the next ones are on their way. */
TEST(a_narrow_path_is_found_on_a_long_way)
{
    const struct impair_config far = {
        .rate = {[IMPAIR_REORDER] = {.every = 1}}, .hold_frames = UINT32_MAX, .hold_for = 400000000};
    struct loop_switch *ls =
        loop_switch_start(&(struct loop_switch_config){.seed = seed, .in = far, .mtu_in = 600});
    struct crew crew = crew_of(1, ls, "far", crew_sum_once, NULL);
    crew_succeed(&crew);
    CU_ASSERT_EQUAL(crew.member[0].stats.elements_per_packet, (576 - 38) / 4);
    loop_switch_stop(ls);
}

TEST(a_closed_data_port_is_found_before_the_job_runs)
{
    for (unsigned in = 0; in < 2; in++) {
        struct loop_switch *ls =
            loop_switch_start(&(struct loop_switch_config){.seed = seed, .mtu_in = in, .mtu_out = !in});
        struct swagg_options o = {.struct_size = sizeof(struct swagg_options),
                                  .switch_ip = loop_switch_ip(ls),
                                  .job = "job",
                                  .size = 1,
                                  .join_timeout_ms = INT_MAX};
        struct swagg_job *job;
        CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_NO_SWITCH);
        CU_ASSERT(says(swagg_last_error(), "answers on UDP port 48863, but packets to its data port 48864"));
        CU_ASSERT(says(swagg_last_error(), "open UDP ports 48863 to 48879"));
        loop_switch_stop(ls);
    }
}

/* A switch that shares its CPUs may stand still for longer than 3 s, in which a worker asks some 60 times. */
TEST(so_long_a_silent_switch_is_waited_for_as_the_caller_says)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed, .ignores = 80});
    struct crew crew = crew_of(1, ls, "late", crew_sum_once, NULL);
    crew.options.answer_timeout_ms = 120000;
    crew.options.join_timeout_ms = 120000;
    crew_succeed(&crew);
    loop_switch_stop(ls);

    ls = loop_switch_start(&(struct loop_switch_config){.seed = seed, .ignores = 1000000});
    struct swagg_options o = {.struct_size = sizeof(struct swagg_options),
                              .switch_ip = loop_switch_ip(ls),
                              .job = "job",
                              .size = 1,
                              .answer_timeout_ms = 200,
                              .join_timeout_ms = INT_MAX};
    struct swagg_job *job;
    CU_ASSERT_EQUAL(swagg_open(&job, &o), SWAGG_ERR_NO_SWITCH);
    CU_ASSERT(says(swagg_last_error(), "answers on UDP port 48863: check that swagg runs there"));
    loop_switch_stop(ls);
}

/* Its host answers with "port unreachable" meanwhile, so often that many a rank hears it. */
TEST(a_switch_that_starts_while_a_rank_opens_is_waited_for)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = seed});
    struct crew crew = crew_of(1, ls, "early", crew_sum_once, NULL);
    crew.options.answer_timeout_ms = 120000;
    crew.options.join_timeout_ms = 120000;
    loop_switch_kill(ls);
    crew_start(&crew);
    sleep_ms(1000);
    loop_switch_revive(ls);
    crew_end_well(&crew);
    loop_switch_stop(ls);
}
