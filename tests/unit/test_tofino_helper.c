/* swagg-tofino's helper where it hangs: who asks is not kept waiting for ever, nor who ends. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"
#include "unit.h"

static const uint64_t second = UINT64_C(1000000000);

static char *const deaf[] = {"sleep", "1000",
                             NULL}; /* reads nothing, and does not mind the end of its input */
static char *const agrees[] = {
    "python3", "-c",
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    print(json.dumps({'id': json.loads(line)['id'], 'ok': True}), flush=True)",
    NULL};

static void note_answer(void *context, uint64_t id, const json_t *answer)
{
    (void)answer;
    *(uint64_t *)context = id;
}

static uint64_t hear(struct helper *h)
{
    uint64_t answered = 0;

    while (answered == 0) {
        struct pollfd waiting = {.fd = helper_fd(h), .events = helper_events(h)};

        CU_ASSERT_EQUAL_FATAL(poll(&waiting, 1, -1), 1);
        CU_ASSERT_FATAL(helper_receive(h, note_answer, &answered));
    }
    return answered;
}

TEST(a_helper_that_leaves_a_question_unanswered_hangs)
{
    struct helper *h = helper_start(deaf, 10);
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    for (unsigned i = 0; i < 20; i++, now += second)
        CU_ASSERT(!helper_hangs(h, now)); /* it was not asked */
    CU_ASSERT_EQUAL(helper_ask(h, json_object()), 1);
    for (unsigned i = 0; i < 9; i++, now += second)
        CU_ASSERT(!helper_hangs(h, now));
    CU_ASSERT(helper_hangs(h, now));
    helper_stop(h);
}

TEST(time_in_which_this_process_stands_still_does_not_count)
{
    struct helper *h = helper_start(deaf, 10);
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    CU_ASSERT_EQUAL(helper_ask(h, json_object()), 1);
    CU_ASSERT(!helper_hangs(h, now));
    CU_ASSERT(!helper_hangs(h, now += 1000 * second));
    helper_stop(h);
}

TEST(each_answer_shows_that_it_works)
{
    struct helper *h = helper_start(agrees, 10);
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    for (uint64_t id = 1; id < 6; id++) {
        CU_ASSERT_EQUAL(helper_ask(h, json_object()), id);
        for (unsigned i = 0; i < 5; i++, now += second)
            CU_ASSERT(!helper_hangs(h, now));
        CU_ASSERT_EQUAL(hear(h), id);
    }
    for (unsigned i = 0; i < 20; i++, now += second)
        CU_ASSERT(!helper_hangs(h, now));
    helper_stop(h);
}

/* More than a socket holds. */
static json_t *long_question(void)
{
    enum { BYTES = 4 << 20 };
    char *text = malloc(BYTES);
    json_t *question;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', BYTES - 1);
    text[BYTES - 1] = '\0';
    question = json_pack("{s:s}", "text", text);
    free(text);
    return question;
}

TEST(a_question_that_is_not_read_keeps_nobody_waiting)
{
    struct helper *h = helper_start(deaf, UINT16_MAX); /* the patience of a day: asking would take it */
    uint64_t now = second;

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    CU_ASSERT_EQUAL(helper_ask(h, long_question()), 1);
    CU_ASSERT_EQUAL(helper_ask(h, json_object()), 2);
    for (unsigned i = 0; i < UINT16_MAX - 1; i++, now += second)
        CU_ASSERT(!helper_hangs(h, now));
    CU_ASSERT(helper_hangs(h, now + second));
    helper_stop(h);
}

TEST(a_question_that_is_read_slowly_is_answered)
{
    struct helper *h = helper_start(agrees, 10);

    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    CU_ASSERT_EQUAL(helper_ask(h, long_question()), 1);
    CU_ASSERT_EQUAL(hear(h), 1);
    CU_ASSERT_EQUAL(helper_ask(h, json_object()), 2);
    CU_ASSERT_EQUAL(hear(h), 2);
    helper_stop(h);
}
