/* Operators' requests and the daemon's answers, as lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operator/reply.h"
#include "unit.h"

static char why[REQUEST_TEXT_MAX];

static int parse(struct request *r, const char *line)
{
    why[0] = '\0';
    return request_parse(r, line, strlen(line), why);
}

TEST(a_request_has_a_command_and_arguments)
{
    struct request r;

    CU_ASSERT_EQUAL_FATAL(parse(&r, "{\"version\": 1, \"command\": \"job\", \"name\": \"a b\"}"), 0);
    CU_ASSERT_STRING_EQUAL(r.command, "job");
    CU_ASSERT_STRING_EQUAL(request_text(&r, "name"), "a b");
    CU_ASSERT_PTR_NULL(request_text(&r, "port"));
    CU_ASSERT_PTR_NULL(request_text(&r, "version")); /* no text */
    request_free(&r);
}

/* swaggctl has reals only. What is not whole is left to whoever knows what it is for. */
TEST(settings_that_are_whole_numbers_become_integers)
{
    struct request r;
    char *settings;

    CU_ASSERT_EQUAL_FATAL(
        parse(&r, "{\"version\": 1, \"command\": \"job reserve\", \"settings\": {\"ranks\": 2.0, \"drop\": "
                  "0.5, \"below\": -1.0, \"beyond\": 4294967296.0, \"tenant\": \"lab\", \"slots\": 8}}"),
        0);
    settings = json_dumps(json_object_get(r.body, "settings"), JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(settings, "{\"ranks\":2,\"drop\":0.5,\"below\":-1.0,\"beyond\":4294967296.0,"
                                     "\"tenant\":\"lab\",\"slots\":8}");
    free(settings);
    request_free(&r);
}

TEST(what_is_no_request_is_told_so)
{
    static const struct {
        const char *line, *why;
    } bad[] = {
        {"", "not JSON"},
        {"status", "not JSON"},
        {"{\"version\": 1, \"command\": \"status\"", "not JSON"},
        {"{\"version\": 1, \"version\": 1, \"command\": \"status\"}", "not JSON: duplicate object key"},
        {"[1]", "a request is a JSON object"},
        {"{\"command\": \"status\"}", "the request has no number \"version\"; it is 1"},
        {"{\"version\": \"1\", \"command\": \"status\"}", "the request has no number \"version\""},
        {"{\"version\": 2, \"command\": \"status\"}", "the request is of version 2, the switch knows 1"},
        {"{\"version\": 1}", "the request has no text \"command\""},
        {"{\"version\": 1, \"command\": 5}", "the request has no text \"command\""},
    };
    struct request r;

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CU_ASSERT(parse(&r, bad[i].line) < 0);
        CU_ASSERT(strncmp(why, bad[i].why, strlen(bad[i].why)) == 0);
        CU_ASSERT_PTR_NULL(r.body);
    }
}

static void check_line(struct reply *reply, const char *expected)
{
    char *line = reply_line(reply, "s");

    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_STRING_EQUAL(line, expected);
    free(line);
}

TEST(an_answer_is_one_line)
{
    struct reply shown = {.view = json_pack("{s:i}", "a", 5), .counters = json_pack("[s]", "a")};
    struct reply done = {.code = REPLY_OK}, refused = {.view = json_object(), .counters = json_array()};

    check_line(&shown,
               "{\"version\":1,\"switch\":\"s\",\"ok\":true,\"counters\":[\"a\"],\"view\":{\"a\":5}}\n");
    check_line(&done, "{\"version\":1,\"switch\":\"s\",\"ok\":true}\n");
    reply_fail(&refused, REPLY_UNKNOWN, "there is no\n%s", "x");
    check_line(
        &refused,
        "{\"version\":1,\"switch\":\"s\",\"ok\":false,\"code\":\"unknown\",\"error\":\"there is no\\nx\"}\n");
}

TEST(an_answer_may_quote_anything)
{
    struct reply reply = {.code = REPLY_OK};
    char *line;

    reply_fail(&reply, REPLY_BAD_REQUEST, "no port \xff\xfe");
    line = reply_line(&reply, "\xff");
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "\"switch\":\"?\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "\"code\":\"bad_request\",\"error\":\"no port ??\""));
    free(line);
}

/* A value is cut where it is longer than there is room for, perhaps within a character. */
TEST(a_change_may_be_of_anything)
{
    struct settings_changes changes = {
        .n = 1, .change = {{.key = "state", .from = "/a\xc3\xa9", .to = "/a\xc3", .when = SETTING_RESTART}}};
    struct reply reply = {.code = REPLY_OK};

    reply_changes(&reply, &changes, true);
    CU_ASSERT_EQUAL(reply.code, REPLY_OK);
    check_line(&reply, "{\"version\":1,\"switch\":\"s\",\"ok\":true,\"counters\":[],\"view\":{\"changes\":["
                       "{\"key\":\"state\",\"from\":\"/a\xc3\xa9\",\"to\":\"/a?\",\"for\":\"restart\"}]}}\n");
}
