/* The shim's choices, kept in a file. */
#include "kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define L WAY_LIBRARY
#define S WAY_SWITCH

enum { DAY = 24 * 60 * 60 };
static const time_t now = 1790000000;
static char directory[] = "/tmp/swagg-kept-XXXXXX", file[64], text[4096];

static void begin(void)
{
    snprintf(directory + sizeof directory - 7, 7, "XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/choices", directory);
}

static void end(void)
{
    unlink(file);
    CU_ASSERT_EQUAL(rmdir(directory), 0); /* nothing else is left there */
}

EACH_TEST(begin, end)

static struct choices choice(unsigned size, enum way way)
{
    struct choices c = {0};
    crossover_note(&c.of[2][false][CROSSING_ALLREDUCE], size, way);
    return c;
}

static const struct crossover *read_one(struct choices *c, const char *network, time_t at, int rows)
{
    memset(c, 0, sizeof *c);
    CU_ASSERT_EQUAL(kept_read(file, network, at, c), rows);
    return &c->of[2][false][CROSSING_ALLREDUCE];
}

static void read_text(void)
{
    FILE *f = fopen(file, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
}

static void write_text(size_t bytes)
{
    FILE *f = fopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fwrite(text, 1, bytes, f);
    fclose(f);
}

TEST(what_is_kept_is_read_back_for_the_same_network)
{
    struct choices c = choice(0, S), again;
    CU_ASSERT_EQUAL(kept_write(file, "here", now, &c), 0);
    read_text();
    CU_ASSERT_STRING_EQUAL(text,
                           "swagg choices 1\n"
                           "2026-09-21T14:13:20Z allreduce 256 bytes 4 ranks several-hosts switch here\n"
                           "end 1\n");
    CU_ASSERT(memcmp(read_one(&again, "here", now, 1), &c.of[2][false][CROSSING_ALLREDUCE],
                     sizeof(struct crossover)) == 0);
    CU_ASSERT(!crossover_is_measured(read_one(&again, "there", now, 0), 0));
}

TEST(a_file_that_is_not_there_has_none)
{
    struct choices c;
    read_one(&c, "here", now, 0);
}

TEST(what_is_measured_again_takes_the_place_of_what_was)
{
    struct choices first = choice(0, S), other = choice(0, S), second = choice(0, L), third = choice(3, S), c;
    CU_ASSERT_EQUAL(kept_write(file, "here", now, &first), 0);
    CU_ASSERT_EQUAL(kept_write(file, "there", now + 1, &other), 0);
    CU_ASSERT_EQUAL(kept_write(file, "here", now + 2, &second), 0);
    CU_ASSERT_EQUAL(kept_write(file, "here", now + 3, &third), 0);
    const struct crossover *x = read_one(&c, "here", now + 4, 2);
    CU_ASSERT_EQUAL(crossover_way(x, 8), L);
    CU_ASSERT_EQUAL(crossover_way(x, 16384), S);
    CU_ASSERT_EQUAL(crossover_way(read_one(&c, "there", now + 4, 1), 8), S);
}

TEST(what_is_old_does_not_count_and_goes)
{
    struct choices first = choice(0, S), second = choice(1, S), c;
    CU_ASSERT_EQUAL(kept_write(file, "here", now, &first), 0);
    read_one(&c, "here", now + KEPT_DAYS * DAY - 1, 1);
    read_one(&c, "here", now + KEPT_DAYS * DAY, 0);
    read_one(&c, "here", now - 1, 0); /* of the future: the clock was set */
    CU_ASSERT_EQUAL(kept_write(file, "here", now + KEPT_DAYS * DAY, &second), 0);
    read_text();
    CU_ASSERT_PTR_NULL(strstr(text, " 256 bytes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "end 1\n"));
}

/* Cut anywhere, with a word too many, or another file altogether. */
TEST(what_is_damaged_does_not_count_and_is_replaced)
{
    struct choices two = choice(0, S), c;
    crossover_note(&two.of[10][true][CROSSING_BARRIER], 0, L);
    CU_ASSERT_EQUAL(kept_write(file, "here", now, &two), 0);
    read_one(&c, "here", now, 2);
    read_text();
    for (size_t bytes = 0; bytes < strlen(text); bytes++) {
        write_text(bytes);
        read_one(&c, "here", now, -EBADMSG);
    }
    const size_t length = strlen(text);
    strcpy(text + length, "more\n");
    write_text(length + 5);
    read_one(&c, "here", now, -EBADMSG);
    strcpy(text, "swagg choices 1\n2026-09-21T14:13:20Z allreduce 257 bytes 4 ranks several-hosts switch "
                 "here\nend 1\n");
    write_text(strlen(text));
    read_one(&c, "here", now, -EBADMSG);
    CU_ASSERT_EQUAL(kept_write(file, "here", now, &two), 0);
    read_one(&c, "here", now, 2);
}

TEST(where_it_cannot_be_written_the_old_one_stays)
{
    struct choices one = choice(0, S);
    CU_ASSERT_EQUAL(mkdir(file, 0700), 0); /* not a file at all */
    CU_ASSERT(kept_write(file, "here", now, &one) < 0);
    CU_ASSERT_EQUAL(rmdir(file), 0);
    CU_ASSERT_EQUAL(kept_write("/nowhere/at/all", "here", now, &one), -ENOENT);
}

/* A device or a pipe is no file to be replaced; where a link leads to one, that is. */
TEST(what_is_no_file_stays)
{
    struct choices c = choice(3, S), back = {0};
    struct stat st;
    char link_at[80];
    CU_ASSERT_EQUAL(mkfifo(file, 0600), 0);
    CU_ASSERT_EQUAL(kept_write(file, "n", now, &c), -ENOTSUP);
    CU_ASSERT_EQUAL(kept_read(file, "n", now, &back), -ENOTSUP);
    CU_ASSERT(lstat(file, &st) == 0 && S_ISFIFO(st.st_mode));
    unlink(file);

    snprintf(link_at, sizeof link_at, "%s/link", directory);
    CU_ASSERT_EQUAL(kept_write(file, "n", now, &c), 0);
    CU_ASSERT_EQUAL(symlink("choices", link_at), 0);
    CU_ASSERT_EQUAL(kept_write(link_at, "n", now, &c), 0);
    CU_ASSERT(lstat(link_at, &st) == 0 && S_ISLNK(st.st_mode));
    CU_ASSERT_EQUAL(kept_read(file, "n", now, &back), 1);
    unlink(link_at);
}

TEST(ranks_hear_of_it)
{
    struct choices c = choice(0, S), other = {0};
    char packed[KEPT_PACKED_MAX], words[CROSSOVER_TEXT];
    crossover_note(&c.of[2][false][CROSSING_ALLREDUCE], 3, L);
    kept_pack(&c, packed);
    kept_unpack(packed, &other);
    struct crossover *x = &other.of[2][false][CROSSING_ALLREDUCE];
    crossover_write(x, words);
    CU_ASSERT_STRING_EQUAL(words, "below 8K (kept)");
    crossover_note(x, 0, S);
    crossover_write(x, words);
    CU_ASSERT_STRING_EQUAL(words, "below 8K (partly kept)");
    memset(&c, 0, sizeof c);
    kept_unpack("-", &c);
    kept_unpack("", &c);
    kept_unpack("fff.1.1,", &c);
    const struct choices nothing = {0};
    CU_ASSERT(memcmp(&c, &nothing, sizeof c) == 0);
}

TEST(what_has_no_room_is_left_out)
{
    struct choices all, some = {0};
    char packed[KEPT_PACKED_MAX];
    memset(&all, 0, sizeof all);
    for (unsigned i = 0; i < KEPT_CLASSES * 2 * CROSSINGS; i++)
        for (unsigned size = 0; size < CROSSOVER_SIZES; size++)
            crossover_note(&all.of[0][0][0] + i, size, S);
    kept_pack(&all, packed);
    CU_ASSERT(strlen(packed) < sizeof packed);
    kept_unpack(packed, &some);
    CU_ASSERT(crossover_is_measured(&some.of[0][0][0], 0));
    CU_ASSERT(!crossover_is_measured(&some.of[KEPT_CLASSES - 1][1][CROSSINGS - 1], 0));
}
