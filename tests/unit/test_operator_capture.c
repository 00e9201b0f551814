/* What is asked of a capture before it begins. The job is the configuration's, and is about to get a new
 * pool: for that moment nobody finds what runs of it. */
#include <string.h>

#include "commands/commands.h"
#include "protocols.h"
#include "unit.h"

static uint64_t ports = 1;
static struct port port = {.name = "h0"};
static struct jobs jobs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registrar registrar = {.common.lock = PTHREAD_MUTEX_INITIALIZER};
static struct static_job train = {.name = "train", .plan = {.size = 2, .tenant = -1}};
static const struct static_jobs fixed = {.n = 1, .job = &train};
static const struct show_parts shown = {.lock = &lock,
                                        .port = &port,
                                        .ports = &ports,
                                        .jobs = &jobs,
                                        .registrar = &registrar,
                                        .static_jobs = &fixed};
static struct action_parts parts = {.show = &shown, .port = &port};

static void refuses(const char *line, const char *expected)
{
    struct reply reply = {.code = REPLY_OK};
    struct server_feed feed = {0};
    char why[REQUEST_TEXT_MAX];
    struct request request;

    train.plan.protocol = agg_protocol_find(AGG_PROTOCOL_SWITCHML);
    CU_ASSERT_EQUAL_FATAL(request_parse(&request, line, strlen(line), why), 0);
    commands_run(&parts, &request, &reply, &feed);
    request_free(&request);
    CU_ASSERT_NOT_EQUAL(reply.code, REPLY_OK);
    if (strstr(reply.error, expected) == NULL)
        printf("\n%s: %s", line, reply.error);
    CU_ASSERT_PTR_NOT_NULL(strstr(reply.error, expected));
}

#define CAPTURE(words) "{\"version\": 1, \"command\": \"capture\", " words "}"

TEST(a_job_that_gets_a_new_pool_is_one_to_capture)
{
    refuses(CAPTURE("\"job\": \"train\", \"reason\": \"x\""), "x is no reason of a drop");
    refuses(CAPTURE("\"job\": \"train\", \"rank\": \"1\", \"reason\": \"x\""), "x is no reason of a drop");
    refuses(CAPTURE("\"job\": \"train\", \"rank\": \"2\""), "it has ranks 0 to 1");
}

TEST(a_rank_is_one_of_a_job)
{
    refuses(CAPTURE("\"rank\": \"1\""), "rank 1 of which job?");
    refuses(CAPTURE("\"job\": \"train\", \"rank\": \"-1\""), "-1 is no rank");
    refuses(CAPTURE("\"job\": \"train\", \"rank\": \"4294967297\""), "4294967297 is no rank");
}
