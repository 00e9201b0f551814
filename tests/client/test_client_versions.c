/* A program and a library of different versions: structs that are shorter or longer than the library's. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "crew.h"
#include "unit.h"

EACH_TEST(start_switch, stop_switch)

/* The structs as a later version may have them. */
struct longer_options {
    struct swagg_options known;
    uint64_t more; /* without padding behind it, which the library would look at and nobody has written */
};
struct longer_stats {
    struct swagg_stats known;
    uint64_t more;
};

static struct swagg_options good(const struct loop_switch *ls)
{
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    o.switch_ip = loop_switch_ip(ls);
    o.job = "versions";
    o.size = 1;
    o.answer_timeout_ms = o.join_timeout_ms = 300000;
    return o;
}

static int open_and_close(const struct swagg_options *o)
{
    struct swagg_job *job;
    int rc = swagg_open(&job, o);
    swagg_close(job);
    return rc;
}

TEST(what_the_caller_does_not_know_is_the_default)
{
    struct swagg_options o = good(the_switch);
    memset((char *)&o + offsetof(struct swagg_options, mode), 0xff,
           sizeof o - offsetof(struct swagg_options, mode));
    o.struct_size = offsetof(struct swagg_options, mode);
    CU_ASSERT_EQUAL(open_and_close(&o), SWAGG_OK);
    o.struct_size = sizeof o;
    o.key_file = NULL; /* a pointer is looked at */
    CU_ASSERT_EQUAL(open_and_close(&o), SWAGG_ERR_ARGUMENT);
}

TEST(what_the_library_does_not_know_must_not_be_asked_for)
{
    struct longer_options o = {.known = good(the_switch)};
    o.known.struct_size = sizeof o;
    CU_ASSERT_EQUAL(open_and_close(&o.known), SWAGG_OK);
    o.more = 1;
    CU_ASSERT_EQUAL(open_and_close(&o.known), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), swagg_version()));
    o.known.struct_size = 0;
    CU_ASSERT_EQUAL(open_and_close(&o.known), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), "SWAGG_OPTIONS_DEFAULT"));
}

TEST(so_much_of_the_statistics_is_written_as_the_caller_knows)
{
    struct swagg_options o = good(the_switch);
    struct longer_stats stats;
    struct swagg_job *job;
    float x = 1;
    CU_ASSERT_EQUAL_FATAL(swagg_open(&job, &o), SWAGG_OK);
    CU_ASSERT_EQUAL(swagg_allreduce(job, &x, &x, 1, SWAGG_F32, SWAGG_SUM), SWAGG_OK);

    memset(&stats, 0xff, sizeof stats);
    stats.known.struct_size = offsetof(struct swagg_stats, elements);
    CU_ASSERT_EQUAL(swagg_get_stats(job, &stats.known), SWAGG_OK);
    CU_ASSERT_EQUAL(stats.known.calls, 1);
    CU_ASSERT_EQUAL(stats.known.elements, UINT64_MAX);

    stats.known.struct_size = sizeof stats;
    CU_ASSERT_EQUAL(swagg_get_stats(job, &stats.known), SWAGG_OK);
    CU_ASSERT_EQUAL(stats.known.struct_size, sizeof stats);
    CU_ASSERT_EQUAL(stats.known.elements, 1);
    CU_ASSERT_EQUAL(stats.more, 0);

    stats.known.struct_size = 0;
    CU_ASSERT_EQUAL(swagg_get_stats(job, &stats.known), SWAGG_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(swagg_get_stats(NULL, &stats.known), SWAGG_ERR_ARGUMENT);
    swagg_close(job);
}

/* What an older program does not know is not looked at. */
TEST(a_shorter_how_is_taken)
{
    struct swagg_options o = good(the_switch);
    struct swagg_post how = SWAGG_POST_DEFAULT;
    struct swagg_request *request;
    struct swagg_job *job;
    float x[64] = {1};
    o.compression = SWAGG_COMPRESSION_THC;
    o.compress_least = 64;
    how.left_out = (float *)1;
    how.struct_size = offsetof(struct swagg_post, left_out);
    CU_ASSERT_EQUAL_FATAL(swagg_open(&job, &o), SWAGG_OK);
    CU_ASSERT_EQUAL(swagg_post_allreduce(job, x, x, 64, SWAGG_F32, SWAGG_SUM, &how, &request), SWAGG_OK);
    CU_ASSERT_EQUAL(swagg_wait(&request), SWAGG_OK);
    how.struct_size--;
    CU_ASSERT_EQUAL(swagg_post_allreduce(job, x, x, 64, SWAGG_F32, SWAGG_SUM, &how, &request),
                    SWAGG_ERR_ARGUMENT);
    swagg_close(job);
}

TEST(the_version_is_one_word)
{
    CU_ASSERT(strncmp(swagg_version(), "0.", 2) == 0 && strchr(swagg_version(), '+') != NULL);
    CU_ASSERT_PTR_NULL(strpbrk(swagg_version(), " @\n"));
}

static int open_with(const struct swagg_word *words, size_t n)
{
    struct swagg_job *job;
    int rc = swagg_open_words(&job, words, n, NULL, NULL);
    swagg_close(job);
    return rc;
}

TEST(options_in_words_need_no_struct)
{
    struct swagg_word words[] = {
        {"switch_ip", loop_switch_ip(the_switch)}, {"job", "words"}, {"size", "7"}, {"mode", "arrival"},
        {"feedback_bytes", "5000000000"},          {"size", "1"}};
    enum { WORDS = sizeof words / sizeof words[0] };
    static const struct {
        struct swagg_word word;
        const char *complaint;
    } wrong[] = {
        {{"protcol", "atp"}, "there is no \"protcol\"; did you mean \"protocol\"?"},
        {{"colour", "red"}, "there is no \"colour\": docs/libswagg.md has them"},
        {{"checksum", "crc"}, "options.checksum is \"crc\": it must be one of none, crc32c"},
        {{"size", "1x"}, "options.size is \"1x\": it must be a number"},
        {{"size", "4294967297"}, "it must be a number"},
        {{"feedback_bytes", "-1"}, "it must be a number"},
        {{"slots", "1"}, "options.slots is 1: it must be 2 to 16384"},
        {{"job", NULL}, "a name or a value is NULL"},
    };
    CU_ASSERT_EQUAL(open_with(words, WORDS), SWAGG_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        words[WORDS - 1] = wrong[i].word;
        CU_ASSERT_EQUAL(open_with(words, WORDS), SWAGG_ERR_ARGUMENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(swagg_last_error(), wrong[i].complaint));
    }
    CU_ASSERT_EQUAL(open_with(NULL, 1), SWAGG_ERR_ARGUMENT);
}

TEST(options_have_variables)
{
    CU_ASSERT_STRING_EQUAL(swagg_option_of_variable("SWAGG_SWITCH"), "switch_ip");
    CU_ASSERT_STRING_EQUAL(swagg_option_of_variable("SWAGG_MODE=arrival"), "mode");
    CU_ASSERT_STRING_EQUAL(swagg_option_of_variable("SWAGG_FEEDBACK_BYTES="), "feedback_bytes");
    static const char *const others[] = {"SWAGG_JOB", "SWAGG_SWITC", "SWAGG_SWITCHES", "SWAGG_", "MODE",
                                         "",          NULL};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CU_ASSERT_PTR_NULL(swagg_option_of_variable(others[i]));
}
