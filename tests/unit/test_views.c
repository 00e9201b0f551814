/* A view that is declared and filled: what comes out under its keys, in order, as JSON and as telemetry. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/ranks.h"
#include "show/telemetry.h"
#include "unit.h"
#include "views/arrivals.h"
#include "views/view.h"

struct fields {
    const char *name, *nothing;
    char mac[18];
    bool up, is_there, is_not;
    uint64_t frames, last;
    struct view_ranks missing;
};

struct row {
    char name[8];
    uint64_t frames;
    struct view_texts rx;
    struct view_counts hits;
};

static const struct view_field fields[] = {
    {"name", VIEW_TEXT, offsetof(struct fields, name), 0, NULL, ""},
    {"nothing", VIEW_TEXT, offsetof(struct fields, nothing), 0, NULL, ""},
    {"frames", VIEW_COUNTER, offsetof(struct fields, frames), offsetof(struct fields, is_there), NULL, ""},
    {"up", VIEW_FLAG, offsetof(struct fields, up), 0, NULL, ""},
    {"down", VIEW_FLAG, offsetof(struct fields, up), offsetof(struct fields, is_not), NULL, ""},
    {"mac", VIEW_CHARS, offsetof(struct fields, mac), 0, NULL, ""},
    {"missing", VIEW_RANKS, offsetof(struct fields, missing), 0, NULL, ""},
    {"ports", VIEW_TABLE, 0, 0, NULL, ""},
    {"last", VIEW_GAUGE, offsetof(struct fields, last), 0, NULL, ""},
    {0}};

static const struct view_field row[] = {{"name", VIEW_CHARS, offsetof(struct row, name), 0, NULL, ""},
                                        {"frames", VIEW_COUNTER, offsetof(struct row, frames), 0, NULL, ""},
                                        {"rx", VIEW_TEXTS, offsetof(struct row, rx), 0, NULL, ""},
                                        {"", VIEW_COUNTS, offsetof(struct row, hits), 0, NULL, ""},
                                        {0}};

static const struct view view = {.name = "view", .optional = true, .help = "", .fields = fields, .row = row};

static void expect_json(json_t *value, const char *expected)
{
    char *text = json_dumps(value, JSON_COMPACT);

    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    json_decref(value);
}

TEST(a_view_becomes_json)
{
    struct fields shown = {
        .name = "s", .frames = 7, .up = true, .is_there = true, .mac = "02:00", .last = UINT64_C(1) << 40};
    static const struct view_count hits[] = {{"hit", 3}};
    struct view_out out;
    json_t *object, *counters;

    view_begin(&out, &view);
    for (unsigned i = 0; i < 2; i++) {
        const struct row shown_row = {
            .name = {'p', (char)('0' + i)}, .frames = i, .rx = {1 - i, "x", 1}, .hits = {1, hits}};

        view_row(&out, &shown_row);
    }
    ranks_add(shown.missing.set, 1);
    ranks_add(shown.missing.set, 4095);
    view_fields(&out, &shown);
    CU_ASSERT_EQUAL_FATAL(view_end(&out, &object, &counters), 0);
    expect_json(object, "{\"name\":\"s\",\"frames\":7,\"up\":true,\"mac\":\"02:00\",\"missing\":[1,4095],"
                        "\"ports\":[{\"name\":\"p0\",\"frames\":0,\"rx\":[\"x\"],\"hit\":3},"
                        "{\"name\":\"p1\",\"frames\":1,\"rx\":[],\"hit\":3}],\"last\":1099511627776}");
    expect_json(counters, "[\"ports/frames\",\"ports/hit\",\"frames\"]");
}

/* What telemetry makes of a list in a row, of these numbers. */
static void expect_cell(unsigned first, unsigned last, const char *end)
{
    json_t *list = json_array();
    char cell[TELEMETRY_CELL_MAX];

    for (unsigned i = first; i <= last; i++)
        json_array_append_new(list, json_integer(i));
    telemetry_cell(cell, list);
    CU_ASSERT_FATAL(strlen(cell) < sizeof(cell) && strlen(cell) >= strlen(end));
    CU_ASSERT_STRING_EQUAL(cell + strlen(cell) - strlen(end), end);
    json_decref(list);
}

TEST(a_list_that_is_too_long_for_telemetry_ends_with_a_whole_item)
{
    expect_cell(100, 129, "128 129");     /* 30 of three digits */
    expect_cell(100, 130, "129 130");     /* 123 characters: with " ..." there is no room for more */
    expect_cell(100, 131, "129 130 ..."); /* and not "13" */
    expect_cell(100, 999, "129 130 ...");
    expect_cell(1000, 1099, "1022 1023 ...");
}

TEST(addresses_as_texts)
{
    char ip[VIEW_IP_MAX], address[VIEW_ADDRESS_MAX];

    CU_ASSERT_STRING_EQUAL(view_ip(ip, 0), "0.0.0.0");
    CU_ASSERT_STRING_EQUAL(view_ip(ip, inet_addr("255.255.255.255")), "255.255.255.255");
    CU_ASSERT_STRING_EQUAL(view_address(address, inet_addr("10.77.0.109"), 5000, 1), "10.77.0.109:5000");
    CU_ASSERT_STRING_EQUAL(view_address(address, inet_addr("10.0.0.1"), 65000, 16), "10.0.0.1:65000-65015");
}

/* A switch below sends one packet for ranks 1 and 2. */
static bool play_rank(const void *pool, uint16_t rank, struct agg_rank_view *v)
{
    (void)pool;
    *v = (struct agg_rank_view){.sender = rank == 2 ? 1 : rank, .contributions = 10, .lost_up = 1};
    return true;
}

TEST(what_comes_for_several_ranks_counts_once)
{
    static const struct agg_protocol played = {.view_rank = play_rank};
    const struct agg_job job = {.protocol = &played};
    struct job_view shown = {0};
    struct rank_view of = {0};

    arrivals_of_job(&shown, &job, false, 3);
    CU_ASSERT(shown.contributions == 20 && shown.lost_up == 2);
    arrivals_of_rank(&of, &job, false, 1);
    CU_ASSERT(!of.together && of.contributions == 10);
    arrivals_of_rank(&of, &job, false, 2);
    CU_ASSERT(of.together && of.sent_with == 1 && of.contributions == 10);
}
