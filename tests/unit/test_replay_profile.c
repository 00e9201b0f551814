/* Profiles of models: what their files say, what is said of those that cannot be read, and which gradients
 * are ready when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schedule.h"
#include "unit.h"

static struct profile p;
static char why[PROFILE_WHY];

static int read_text(const char *text)
{
    char path[] = "/tmp/test_replay_profile.XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    const int ret = profile_read(&p, path, why);
    unlink(path);
    return ret;
}

static void expect_refusal(const char *text, const char *words)
{
    CU_ASSERT_EQUAL(read_text(text), -1);
    if (strstr(why, words) == NULL)
        printf("\n%s\nsaid: %s\nexpected: %s\n", text, why, words);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, words));
    CU_ASSERT_EQUAL(p.layers, 0);
    CU_ASSERT_PTR_NULL(p.layer);
}

#define MODEL "model M\n"

TEST(a_profile_is_read)
{
    CU_ASSERT_EQUAL_FATAL(read_text("# a model\n\nmodel M # the name\nbucket 2K\n"
                                    "layer first 1000 1 2.5\nlayer\tlast 4M 0 1e1"),
                          0);
    CU_ASSERT_STRING_EQUAL(p.model, "M");
    CU_ASSERT_EQUAL(p.bucket_bytes, 2048);
    CU_ASSERT_EQUAL(p.layers, 2);
    CU_ASSERT_STRING_EQUAL(p.layer[0].name, "first");
    CU_ASSERT_EQUAL(p.layer[0].bytes, 1000);
    CU_ASSERT_EQUAL(p.layer[0].backward_ms, 2.5);
    CU_ASSERT_EQUAL(p.layer[1].backward_ms, 10);
    CU_ASSERT_EQUAL(profile_bytes(&p), 1000 + (4 << 20));
    profile_free(&p);
}

TEST(mistakes_are_told_with_their_line)
{
    expect_refusal(MODEL "\nlayers a 1 1 1\n", ":3: \"layers\" is none of model, bucket, layer");
    expect_refusal(MODEL "layer a 1 1\n", ":2: expected is \"layer NAME BYTES FORWARD_MS BACKWARD_MS\"");
    expect_refusal(MODEL "layer a 1 1 1 1\n", ":2: expected is");
    expect_refusal(MODEL "layer a -1 1 1\n", ":2: \"-1\" is no number of bytes from 0");
    expect_refusal(MODEL "layer a 1T 1 1\n", "\"1T\" is no number of bytes");
    expect_refusal(MODEL "layer a 1MM 1 1\n", "\"1MM\" is no number of bytes");
    expect_refusal(MODEL "layer a 4097G 1 1\n", "\"4097G\" is no number of bytes");
    expect_refusal(MODEL "layer a 99999999999999999999 1 1\n", "is no number of bytes");
    expect_refusal(MODEL "bucket 0\n", "\"0\" is no number of bytes from 1");
    expect_refusal(MODEL "layer a 1 soon 1\n", "\"soon\" is no time from 0");
    expect_refusal(MODEL "layer a 1 1 -1\n", "\"-1\" is no time from 0");
    expect_refusal(MODEL "layer a 1 nan 1\n", "\"nan\" is no time from 0");
    expect_refusal("model a23456789b123456789c123456789d123456789e123456789f123456789g1234\n",
                   "has more than 63 bytes");
    expect_refusal("model a\"b\n", ":1: the name has a byte of code 34");
    expect_refusal("model a\\b\n", ":1: the name has a byte of code 92");
    expect_refusal(MODEL "layer \xc3\xa9 1 1 1\n", ":2: the name has a byte of code 195");
}

TEST(what_is_missing_is_told)
{
    expect_refusal("layer a 1 1 1\n", ": there is no line \"model NAME\"");
    expect_refusal(MODEL, ": there is no line \"layer");
    expect_refusal(MODEL "layer a 0 1 1\n", ": no layer has gradients");
    CU_ASSERT_EQUAL(profile_read(&p, "/nonexistent/profile", why), -1);
    CU_ASSERT_STRING_EQUAL(why, "/nonexistent/profile: cannot be read: No such file or directory");
    CU_ASSERT_EQUAL(profile_read(&p, "/", why), -1);
    CU_ASSERT_EQUAL(profile_read(&p, "/dev/zero", why), -1);
    CU_ASSERT_STRING_EQUAL(why, "/dev/zero:1: a byte is 0: this is no text");
}

TEST(lines_and_layers_have_bounds)
{
    enum { LONG = 600 };
    static const char head[] = MODEL "#";
    char text[sizeof(head) + LONG];

    memcpy(text, head, sizeof(head));
    memset(text + strlen(head), '-', LONG);
    text[strlen(head) + LONG] = '\0';
    expect_refusal(text, ":2: the line has more than 510 bytes");
}

TEST(gradients_are_ready_in_the_order_of_the_backward_pass)
{
    CU_ASSERT_EQUAL_FATAL(read_text(MODEL "bucket 100\nlayer a 40 1 2\nlayer b 100 1 4\nlayer c 60 2 8\n"),
                          0);
    struct schedule *s = schedule_of(&p, &(struct schedule_how){.scale = 1, .speed = 1});
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_DOUBLE_EQUAL(s->compute_s, 0.018, 1e-12);
    CU_ASSERT_EQUAL(s->elements, 50);
    CU_ASSERT_EQUAL_FATAL(s->buckets, 2);
    CU_ASSERT_EQUAL(s->bucket[0].elements, 40); /* c and b */
    CU_ASSERT_DOUBLE_EQUAL(s->bucket[0].ready_s, 0.016, 1e-12);
    CU_ASSERT_EQUAL(s->bucket[1].elements, 10);
    CU_ASSERT_DOUBLE_EQUAL(s->bucket[1].ready_s, 0.018, 1e-12);
    free(s);

    /* A layer each; a tenth of the bytes, of which none becomes nothing; computing twice as fast. */
    s = schedule_of(&p, &(struct schedule_how){.scale = 100, .speed = 2, .bucket_bytes = 1});
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_EQUAL_FATAL(s->buckets, 3);
    CU_ASSERT_DOUBLE_EQUAL(s->bucket[0].ready_s, 0.006, 1e-12);
    for (unsigned i = 0; i < s->buckets; i++)
        CU_ASSERT_EQUAL(s->bucket[i].elements, 1);
    free(s);
    profile_free(&p);
}

TEST(what_goes_on_at_once_is_counted_once)
{
    struct schedule_shares shares = {0};

    schedule_count(&shares, 1, 3, 5);
    schedule_count(&shares, 2, 4, 5);   /* behind the first one, which it waits for */
    schedule_count(&shares, 3, 3.5, 5); /* has ended meanwhile */
    CU_ASSERT_DOUBLE_EQUAL(shares.communication, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(shares.overlap, 3, 1e-12);
    schedule_count(&shares, 4.5, 7, 5); /* after a pause, and beyond computing */
    CU_ASSERT_DOUBLE_EQUAL(shares.communication, 5.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(shares.overlap, 3.5, 1e-12);
    schedule_count(&shares, 8, 9, 5);
    CU_ASSERT_DOUBLE_EQUAL(shares.communication, 6.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(shares.overlap, 3.5, 1e-12);
}

/* Those that come with swagg are whole, and have the bytes that the SwitchML paper's table 1 has, in MiB. */
TEST(the_profiles_that_come_with_it_are_read)
{
    static const struct {
        const char *name;
        double mib;
    } papers[] = {{"bert", 1274},   {"deeplight", 2319}, {"lstm", 1627},  {"ncf", 121},
                  {"resnet50", 87}, {"ssd", 98},         {"ugatit", 511}, {"vgg19", 548}};

    for (size_t i = 0; i < sizeof(papers) / sizeof(papers[0]); i++) {
        char file[256];
        snprintf(file, sizeof(file), "%s/%s.profile", PROFILES_DIRECTORY, papers[i].name);
        const int ret = profile_read(&p, file, why);
        if (ret != 0)
            printf("\n%s\n", why);
        CU_ASSERT_EQUAL_FATAL(ret, 0);
        CU_ASSERT_DOUBLE_EQUAL((double)profile_bytes(&p) / (1 << 20), papers[i].mib, 0.9);
        profile_free(&p);
    }
}
