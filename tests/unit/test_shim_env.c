/* The shim's settings: what is accepted, and what is said of the rest. */
#include "env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "swagg.h"
#include "unit.h"

static struct settings s;
static char text[512];

static int read_one(char *variable)
{
    char *environment[] = {"PATH=/bin", variable, "SWAGGER=1", NULL};
    return settings_read(&s, environment, text, sizeof text);
}

static int read_both(char *first, char *second)
{
    char *environment[] = {first, second, NULL};
    return settings_read(&s, environment, text, sizeof text);
}

/* And says what it takes. */
static void refuses(char *variable, const char *takes)
{
    char words[256];
    snprintf(words, sizeof words, "%s: use %s", variable, takes);
    CU_ASSERT_EQUAL(read_one(variable), -EINVAL);
    CU_ASSERT_STRING_EQUAL(text, words);
}

static void exclude(char *first, char *second, const char *both)
{
    char words[256];
    snprintf(words, sizeof words, "%s exclude each other: unset one of them", both);
    CU_ASSERT_EQUAL(read_both(first, second), -EINVAL);
    CU_ASSERT_STRING_EQUAL(text, words);
}

/* All that is a word, what_is_written_is_read_back has. */
TEST(nothing_set)
{
    CU_ASSERT_EQUAL(read_one("HOME=/root"), 0);
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_STRING_EQUAL(s.switch_ip, "");
    CU_ASSERT_EQUAL(s.min_bytes, MIN_BYTES_MEASURED);
    CU_ASSERT_EQUAL(s.options.call_timeout_ms, 0);
}

TEST(everything_set)
{
    char *environment[] = {"SWAGG_SWITCH=10.0.0.254",
                           "SWAGG_MIN_BYTES=64K",
                           "SWAGG_MODE=arrival",
                           "SWAGG_CHECKSUM=crc32c",
                           "SWAGG_LOG=debug",
                           "SWAGG_JOIN_TIMEOUT_MS=100",
                           "SWAGG_CALL_TIMEOUT_MS=2K",
                           "SWAGG_ANSWER_TIMEOUT_MS=9000",
                           "SWAGG_WINDOW=7",
                           "SWAGG_SLOTS=1024",
                           "SWAGG_FALLBACK=native",
                           "SWAGG_DISABLE=1",
                           "SWAGG_MTU=9000",
                           "SWAGG_SUMMARY_JSON=/tmp/%r.json",
                           "SWAGG_KEY_FILE=/etc/swagg/lab.key",
                           "SWAGG_COMPRESSION=thc",
                           "SWAGG_COMPRESSION_MIN_BYTES=1M",
                           "SWAGG_COMPRESSION_BITS=3",
                           "SWAGG_FEEDBACK=off",
                           "SWAGG_RANKS_PER_RACK=16",
                           "SWAGG_SERVER_RACK=2",
                           "SWAGG_THREADS=8",
                           NULL};
    CU_ASSERT_EQUAL(settings_read(&s, environment, text, sizeof text), 0);
    CU_ASSERT_STRING_EQUAL(
        text, /* by SwitchML there are no racks */
        "SWAGG_RANKS_PER_RACK counts with SWAGG_PROTOCOL=atp or auto only, and was ignored");
    CU_ASSERT_STRING_EQUAL(s.switch_ip, "10.0.0.254");
    CU_ASSERT_EQUAL(s.options.ranks_per_rack, 16);
    CU_ASSERT_EQUAL(s.options.server_rack, 2);
    CU_ASSERT_EQUAL(s.options.threads, 8);
    CU_ASSERT_EQUAL(s.min_bytes, 65536);
    CU_ASSERT_EQUAL(s.options.mode, SWAGG_ON_ARRIVAL);
    CU_ASSERT_EQUAL(s.options.checksum, SWAGG_CHECKSUM_CRC32C);
    CU_ASSERT_EQUAL(s.log, SWAGG_LOG_DEBUG);
    CU_ASSERT_EQUAL(s.options.join_timeout_ms, 100);
    CU_ASSERT_EQUAL(s.options.call_timeout_ms, 2048);
    CU_ASSERT_EQUAL(s.options.answer_timeout_ms, 9000);
    CU_ASSERT_EQUAL(s.options.window, 7);
    CU_ASSERT_EQUAL(s.options.slots, 1024);
    CU_ASSERT_EQUAL(s.options.mtu, 9000);
    CU_ASSERT_STRING_EQUAL(s.summary_json, "/tmp/%r.json");
    CU_ASSERT_STRING_EQUAL(s.key_file, "/etc/swagg/lab.key");
    CU_ASSERT_EQUAL(s.options.compression, SWAGG_COMPRESSION_THC);
    CU_ASSERT_EQUAL(s.compression_min_bytes, 1 << 20);
    CU_ASSERT_EQUAL(s.options.thc_bits, 3);
    CU_ASSERT_EQUAL(s.options.feedback, SWAGG_FEEDBACK_OFF);
    CU_ASSERT_EQUAL(s.fallback, FALLBACK_NATIVE);
    CU_ASSERT_EQUAL(s.disable, 1);
}

TEST(what_cannot_go_together)
{
    exclude("SWAGG_REDUCE=buffered", "SWAGG_FALLBACK=native",
            "SWAGG_REDUCE=buffered and SWAGG_FALLBACK=native");
    exclude("SWAGG_REDUCE=buffered", "SWAGG_NUMBERS=fp16", "SWAGG_REDUCE=buffered and SWAGG_NUMBERS");
    exclude("SWAGG_CHECKSUM=crc32c", "SWAGG_NUMBERS=fp16", "SWAGG_CHECKSUM=crc32c and SWAGG_NUMBERS");
    exclude("SWAGG_COMPRESSION=thc", "SWAGG_PROTOCOL=auto", "SWAGG_COMPRESSION=thc and SWAGG_PROTOCOL");
    exclude("SWAGG_COMPRESSION=thc", "SWAGG_NUMBERS=fp16", "SWAGG_COMPRESSION=thc and SWAGG_NUMBERS");
    CU_ASSERT_EQUAL(read_both("SWAGG_CHECKSUM=crc32c", "SWAGG_PROTOCOL=auto"), 0);
    CU_ASSERT_EQUAL(read_both("SWAGG_COMPRESSION=thc", "SWAGG_NUMBERS=native"), 0);
}

TEST(words)
{
    CU_ASSERT_EQUAL(read_one("SWAGG_NUMBERS=int32"), 0);
    CU_ASSERT_EQUAL(s.options.numbers, SWAGG_NUMBERS_INT32);
    refuses("SWAGG_NUMBERS=int8", "native, int32 or fp16");
    CU_ASSERT_EQUAL(read_one("SWAGG_REDUCE=buffered"), 0);
    CU_ASSERT_EQUAL(s.options.reduce, SWAGG_REDUCE_BUFFERED);
    refuses("SWAGG_REDUCE=early", "complete or buffered");
}

/* Pages say how a variable is called. */
TEST(variables_are_options_in_capitals)
{
    static const char *const others[][2] = {
        {"switch_ip", "SWAGG_SWITCH"}, {"server_ip", "SWAGG_SERVER"}, {"thc_bits", "SWAGG_COMPRESSION_BITS"}};
    for (const struct option_field *f = option_fields; f->name; f++) {
        size_t i = 0;
        while (i < 3 && strcmp(f->name, others[i][0]) != 0)
            i++;
        if (i < 3)
            CU_ASSERT_STRING_EQUAL(f->variable, others[i][1]);
        if (i == 3 && f->variable)
            CU_ASSERT(strncmp(f->variable, "SWAGG_", 6) == 0 && strcasecmp(f->variable + 6, f->name) == 0);
    }
}

TEST(numbers)
{
    CU_ASSERT_EQUAL(read_one("SWAGG_MIN_BYTES=0"), 0);
    CU_ASSERT_EQUAL(s.min_bytes, 0);
    CU_ASSERT_EQUAL(read_one("SWAGG_MIN_BYTES=1024G"), 0);
    CU_ASSERT_EQUAL(s.min_bytes, INT64_C(1) << 40);
    static char *const wrong[] = {
        "SWAGG_MIN_BYTES=-1",  "SWAGG_MIN_BYTES=1025G",
        "SWAGG_MIN_BYTES=K",   "SWAGG_MIN_BYTES=1k",
        "SWAGG_MIN_BYTES=1KB", "SWAGG_MIN_BYTES= 1",
        "SWAGG_MIN_BYTES=0x1", "SWAGG_MIN_BYTES=1000000000000000000000",
        "SWAGG_WINDOW=0",      "SWAGG_SLOTS=1",
        "SWAGG_SLOTS=16385",   "SWAGG_CALL_TIMEOUT_MS=2G",
        "SWAGG_MTU=105",       "SWAGG_MTU=65536",
        "SWAGG_THREADS=0",     "SWAGG_THREADS=9",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CU_ASSERT_EQUAL(read_one(wrong[i]), -EINVAL);
}

TEST(an_error_names_the_variable_and_what_it_takes)
{
    refuses("SWAGG_MODE=odered", "ordered or arrival");
    refuses("SWAGG_CHECKSUM=crc32", "none or crc32c");
    refuses("SWAGG_LOG=loud", "error, warn, info or debug");
    refuses("SWAGG_WINDOW=many", "a number from 1 to 16384; K, M or G may follow");
    refuses("SWAGG_SWITCH=switch.example", "IPv4 addresses with commas between them, like "
                                           "10.0.0.8,10.0.0.9, at most 16");
    refuses("SWAGG_SERVER=10.0.0", "IPv4 addresses with commas between them, like "
                                   "10.0.0.8,10.0.0.9, at most 16");
    CU_ASSERT_EQUAL(read_one("SWAGG_SWITCH=10.0.1.254,10.0.2.254"), 0);
    CU_ASSERT_EQUAL(read_one("SWAGG_SERVER=10.0.0.8,"), -EINVAL);
    CU_ASSERT_EQUAL(read_one("SWAGG_SERVER=10.0.0.8, 10.0.0.9"), -EINVAL);
    refuses("SWAGG_PROTOCOL=udp", "switchml, atp or auto");
}

/* By ATP alone nobody need be named but the parameter server. */
TEST(a_server_stands_in_for_the_switch_by_atp)
{
    CU_ASSERT_EQUAL(read_both("SWAGG_PROTOCOL=atp", "SWAGG_SERVER=10.0.0.9"), 0);
    CU_ASSERT_EQUAL(s.options.protocol, SWAGG_PROTOCOL_ATP);
    CU_ASSERT_STRING_EQUAL(s.switch_ip, "10.0.0.9");
    CU_ASSERT_STRING_EQUAL(s.server_ip, "10.0.0.9");
    CU_ASSERT_EQUAL(read_both("SWAGG_PROTOCOL=atp", "SWAGG_SERVER=10.0.0.19,10.0.0.8"), 0);
    CU_ASSERT_STRING_EQUAL(s.switch_ip, "10.0.0.19");
    CU_ASSERT_STRING_EQUAL(s.server_ip, "10.0.0.19,10.0.0.8");
    CU_ASSERT_EQUAL(read_both("SWAGG_PROTOCOL=auto", "SWAGG_SERVER=10.0.0.19,10.0.0.8"), 0);
    CU_ASSERT_EQUAL(s.options.protocol, SWAGG_PROTOCOL_AUTO);
    CU_ASSERT_STRING_EQUAL(s.switch_ip, "");
}

TEST(a_misspelt_name_is_told)
{
    CU_ASSERT_EQUAL(read_one("SWAGG_MINBYTES=3"), 0);
    CU_ASSERT_STRING_EQUAL(text,
                           "SWAGG_MINBYTES is not a setting and was ignored; did you mean SWAGG_MIN_BYTES?");
    CU_ASSERT_EQUAL(read_one("SWAGG_SERVERS=10.0.0.9"), 0);
    CU_ASSERT_STRING_EQUAL(text,
                           "SWAGG_SERVERS is not a setting and was ignored; did you mean SWAGG_SERVER?");
}

TEST(a_name_like_none_is_answered_with_all)
{
    CU_ASSERT_EQUAL(read_one("SWAGG_JOB=a"), 0);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "SWAGG_JOB is not a setting and was ignored; there are SWAGG_SWITCH SWAGG_PROTOCOL "));
    CU_ASSERT_EQUAL(read_one("SWAGG_=a"), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "SWAGG_ is not a setting and was ignored; there are SWAGG_SWITCH"));
}

TEST(a_setting_that_counts_with_another_only_is_told)
{
    CU_ASSERT_EQUAL(read_both("SWAGG_SWITCH=10.0.0.254", "SWAGG_SERVER=10.0.0.9"), 0);
    CU_ASSERT_STRING_EQUAL(text, "SWAGG_SERVER counts with SWAGG_PROTOCOL=atp or auto only, and was ignored");
    CU_ASSERT_EQUAL(read_both("SWAGG_PROTOCOL=auto", "SWAGG_SERVER=10.0.0.9"), 0);
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_EQUAL(read_both("SWAGG_PROTOCOL=auto", "SWAGG_COMPRESSION_BITS=2"), 0);
    CU_ASSERT_STRING_EQUAL(text,
                           "SWAGG_COMPRESSION_BITS counts with SWAGG_COMPRESSION=thc only, and was ignored");
    CU_ASSERT_EQUAL(read_one("SWAGG_RANKS_PER_RACK="), 0);
    CU_ASSERT_STRING_EQUAL(text, "");
}

TEST(an_error_is_told_before_an_unknown_name)
{
    CU_ASSERT_EQUAL(read_both("SWAGG_MINBYTES=3", "SWAGG_LOG=loud"), -EINVAL);
    CU_ASSERT_STRING_EQUAL(text, "SWAGG_LOG=loud: use error, warn, info or debug");
}

TEST(an_empty_value_is_none)
{
    CU_ASSERT_EQUAL(read_one("SWAGG_MODE="), 0);
    CU_ASSERT_EQUAL(s.options.mode, SWAGG_ORDERED);
    CU_ASSERT_STRING_EQUAL(text, "");
}

/* The text below is what ranks exchange: whoever has to change it here changes ROLLCALL_FORMAT, too. */
TEST(what_is_written_is_read_back)
{
    struct settings first = {0};
    char written[512];
    CU_ASSERT_EQUAL(read_one("HOME=/root"), 0);
    CU_ASSERT_EQUAL(settings_write(&s, written, sizeof written), 0);
    CU_ASSERT_STRING_EQUAL(written,
                           " SWAGG_PROTOCOL=switchml SWAGG_MODE=ordered SWAGG_CHECKSUM=none"
                           " SWAGG_NUMBERS=native SWAGG_COMPRESSION=none SWAGG_FEEDBACK=tensor "
                           "SWAGG_UPLINK=configured SWAGG_LOCAL=auto "
                           "SWAGG_LOG=warn SWAGG_REDUCE=complete SWAGG_FALLBACK=error SWAGG_DISABLE=0");
    char *environment[] = {"SWAGG_SWITCH=10.0.0.254",
                           "SWAGG_MIN_BYTES=64K",
                           "SWAGG_MODE=arrival",
                           "SWAGG_CALL_TIMEOUT_MS=2K",
                           "SWAGG_WINDOW=7",
                           "SWAGG_SERVER=10.0.0.8,10.0.0.9",
                           NULL};
    CU_ASSERT_EQUAL(settings_read(&first, environment, text, sizeof text), 0);
    CU_ASSERT_EQUAL(settings_write(&first, written, sizeof written), 0);
    char *words[32] = {0}, *rest = written;
    for (size_t i = 0; i < 31 && (words[i] = strtok_r(NULL, " ", &rest)); i++)
        ;
    CU_ASSERT_EQUAL(settings_read(&s, words, text, sizeof text), 0);
    CU_ASSERT_EQUAL(memcmp(&s, &first, sizeof s), 0);
    for (size_t size = 1; size < 60; size++) {
        char *room = malloc(size); /* the sanitizer sees a byte too many */
        CU_ASSERT_EQUAL(settings_write(&first, room, size), -ENOSPC);
        CU_ASSERT(strnlen(room, size) < size);
        free(room);
    }
}

TEST(a_wrong_value_does_not_hide_that_a_rank_is_disabled)
{
    char *environment[] = {"SWAGG_LOG=loud", "SWAGG_SWITCH=10.0.0.254", "SWAGG_DISABLE=1", NULL};
    CU_ASSERT_EQUAL(settings_read(&s, environment, text, sizeof text), -EINVAL);
    CU_ASSERT_EQUAL(s.disable, 1);
    CU_ASSERT_STRING_EQUAL(s.switch_ip, "");
}

TEST(texts_are_cut_to_their_room)
{
    char *environment[] = {"SWAGG_MINBYTES=3", "SWAGG_LOG=loud", NULL};
    for (size_t size = 1; size < 80; size++) {
        char *room = malloc(size); /* the sanitizer sees a byte too many */
        CU_ASSERT_EQUAL(settings_read(&s, environment, room, size), -EINVAL);
        CU_ASSERT(strlen(room) < size);
        free(room);
    }
}
