/* swagg-tofino's helper where it hangs: who asks is not kept waiting for ever, nor who ends. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"
#include "unit.h"

static const uint64_t second = UINT64_C(1000000000);

static char *const deaf[] = {"sleep", "1000",
                             NULL}; /* reads nothing, and does not mind the end of its input */
static char *const agrees[] = {"sed", "-u", "s/.*\"id\":\\([0-9]*\\).*/{\"id\":\\1,\"ok\":true}/", NULL};

static void note_answer(void *context, uint64_t id, const json_t *answer)
{
    (void)answer;
    *(uint64_t *)context = id;
}

static uint64_t hear(struct helper *h)
{
    struct pollfd waiting = {.fd = helper_fd(h), .events = POLLIN};
    uint64_t answered = 0;

    CU_ASSERT_EQUAL_FATAL(poll(&waiting, 1, 60000), 1);
    CU_ASSERT_TRUE_FATAL(helper_receive(h, note_answer, &answered));
    return answered;
}

static void test_a_helper_that_leaves_a_question_unanswered_hangs(void)
{
    struct helper *h = helper_start(deaf, 10);
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    for (unsigned i = 0; i < 20; i++, now += second)
        CU_ASSERT_FALSE(helper_hangs(h, now)); /* it was not asked */
    CU_ASSERT_EQUAL(helper_ask(h, json_object()), 1);
    for (unsigned i = 0; i < 9; i++, now += second)
        CU_ASSERT_FALSE(helper_hangs(h, now));
    CU_ASSERT_TRUE(helper_hangs(h, now));
    helper_stop(h);
}

static void test_time_in_which_this_process_stands_still_does_not_count(void)
{
    struct helper *h = helper_start(deaf, 10);
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    CU_ASSERT_EQUAL(helper_ask(h, json_object()), 1);
    CU_ASSERT_FALSE(helper_hangs(h, now));
    CU_ASSERT_FALSE(helper_hangs(h, now += 1000 * second));
    helper_stop(h);
}

static void test_each_answer_shows_that_it_works(void)
{
    struct helper *h = helper_start(agrees, 10);
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    for (uint64_t id = 1; id < 6; id++) {
        CU_ASSERT_EQUAL(helper_ask(h, json_object()), id);
        for (unsigned i = 0; i < 5; i++, now += second)
            CU_ASSERT_FALSE(helper_hangs(h, now));
        CU_ASSERT_EQUAL(hear(h), id);
    }
    for (unsigned i = 0; i < 20; i++, now += second)
        CU_ASSERT_FALSE(helper_hangs(h, now));
    helper_stop(h);
}

static void test_a_question_that_is_not_read_ends_by_the_deadline(void)
{
    enum { MORE_THAN_A_SOCKET_HOLDS = 16 << 20 };
    struct helper *h = helper_start(deaf, 1);
    char *text = malloc(MORE_THAN_A_SOCKET_HOLDS);

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    memset(text, 'x', MORE_THAN_A_SOCKET_HOLDS - 1);
    text[MORE_THAN_A_SOCKET_HOLDS - 1] = '\0';
    CU_ASSERT_EQUAL(helper_ask(h, json_pack("{s:s}", "text", text)), 0);
    CU_ASSERT_TRUE(helper_hangs(h, second));
    free(text);
    helper_stop(h);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_helper_that_leaves_a_question_unanswered_hangs),
        UNIT_TEST(test_time_in_which_this_process_stands_still_does_not_count),
        UNIT_TEST(test_each_answer_shows_that_it_works),
        UNIT_TEST(test_a_question_that_is_not_read_ends_by_the_deadline),
        CU_TEST_INFO_NULL,
    };

    return unit_main("tofino_helper", tests);
}
