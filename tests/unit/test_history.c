/* A day of minutes, and what became of jobs: what is kept, in what order, and how much of it there can be. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "history/history.h"
#include "unit.h"

enum { RANKS = 3, BEGIN = 1700000040 /* a whole minute */ };

static uint64_t seconds;

static uint64_t time_of_day(void)
{
    return seconds;
}

/* A host that this test plays: one job, or none. */
static struct {
    bool there;
    const char *name;
    uint64_t bytes[RANKS], delayed_us[RANKS], lost_up[RANKS], dropped;
} played;

static int play(void *context, const struct view *view, const char *name, struct view_out *out)
{
    const struct view_count drops[] = {{"runt", played.dropped}};
    const struct jobs_view job = {.name = played.name, .state = "running", .tenant = "lab", .size = RANKS};

    (void)context;
    if (view == &views[VIEW_DROPS])
        view_fields(out, &(struct counted_view){.counts = {1, drops}});
    if (view == &views[VIEW_JOBS] && played.there)
        view_row(out, &job);
    for (unsigned r = 0; view == &views[VIEW_MEMBERS] && r < RANKS; r++) {
        const struct rank_view row = {.rank = r,
                                      .delays_noted = true,
                                      .contributions = played.bytes[r] / 100,
                                      .bytes = played.bytes[r],
                                      .delayed_us = played.delayed_us[r],
                                      .lost_up = played.lost_up[r]};

        CU_ASSERT_STRING_EQUAL(name, "lab/train");
        view_row(out, &row);
    }
    return 0;
}

static const struct view_source host = {play, NULL};
static struct history *history;
static json_t *rows; /* of the view that was shown last */

static void begin(void)
{
    memset(&played, 0, sizeof(played));
    played.there = true;
    played.name = "train";
    seconds = BEGIN;
    history = history_new(time_of_day);
    CU_ASSERT_PTR_NOT_NULL_FATAL(history);
}

static void end(void)
{
    json_decref(rows);
    rows = NULL;
    history_free(history);
}

EACH_TEST(begin, end)

/* So many rows of a view, for expect. */
static void show(enum view_id id, const char *job, int rc, size_t n)
{
    json_t *view, *counters;
    struct view_out out;

    view_begin(&out, &views[id]);
    CU_ASSERT_EQUAL(history_show(history, job, &out), rc);
    CU_ASSERT_EQUAL_FATAL(view_end(&out, &view, &counters), 0);
    json_decref(rows);
    rows = json_incref(json_object_get(view, views[id].name));
    json_decref(view);
    json_decref(counters);
    CU_ASSERT_EQUAL_FATAL(json_array_size(rows), n);
}

static void expect(size_t row, const char *key, const char *expected)
{
    const json_t *value = json_object_get(json_array_get(rows, row), key);
    char text[64];

    snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
    if (json_is_string(value))
        snprintf(text, sizeof(text), "%s", json_string_value(value));
    else if (value == NULL)
        snprintf(text, sizeof(text), "-");
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void look_at(uint64_t at)
{
    seconds = at;
    history_look(history, &host);
}

TEST(a_minute_has_what_has_come_in_it)
{
    look_at(BEGIN + 1);
    played.bytes[0] = played.bytes[1] = 3000;
    played.delayed_us[1] = 60;
    played.lost_up[0] = 2;
    played.dropped = 5;
    look_at(BEGIN + 30);
    show(VIEW_HISTORY, NULL, 0, 1);
    expect(0, "time", "2023-11-14T22:14Z");
    expect(0, "jobs", "1");
    expect(0, "bytes", "6000");
    expect(0, "bytes_per_s", "200");
    expect(0, "lost_up", "2");
    expect(0, "dropped", "5");
    expect(0, "latest_job", "lab/train");
    expect(0, "latest_rank", "1");
    expect(0, "late_us_mean", "2");
    expect(0, "lossy_job", "lab/train");
    expect(0, "lossy_rank", "0");
}

TEST(each_minute_counts_from_its_beginning_and_empty_ones_are_left_out)
{
    played.bytes[0] = 600;
    look_at(BEGIN + 5);
    look_at(BEGIN + 65); /* nothing since */
    look_at(BEGIN + 130);
    played.bytes[0] = 1200;
    look_at(BEGIN + 131);
    show(VIEW_HISTORY, NULL, 0, 2);
    expect(0, "time", "2023-11-14T22:14Z");
    expect(0, "bytes_per_s", "10");
    expect(0, "lossy_rank", "");
    expect(1, "time", "2023-11-14T22:16Z");
    expect(1, "bytes", "600");
}

TEST(a_job_that_is_over_is_remembered_by_its_names)
{
    static const char *const calls[] = {"train", "lab/train"};

    played.bytes[2] = 700;
    look_at(BEGIN + 1);
    played.there = false;
    look_at(BEGIN + 2);
    for (unsigned over = 0; over < 2; over++) { /* in the minute that goes on; afterwards */
        for (unsigned i = 0; i < 2; i++) {
            show(VIEW_HISTORY, calls[i], 0, 1);
            expect(0, "job", "train");
            expect(0, "tenant", "lab");
            expect(0, "bytes", "700");
            expect(0, "jobs", "-");
        }
        look_at(BEGIN + 61);
    }
    show(VIEW_HISTORY, "lab/tra", -ENOENT, 0);
}

TEST(a_job_of_that_name_that_begins_anew_adds_to_the_minute)
{
    played.bytes[0] = 5000;
    look_at(BEGIN + 1);
    played.bytes[0] = 300;
    look_at(BEGIN + 2);
    show(VIEW_HISTORY, "train", 0, 1);
    expect(0, "bytes", "5300");
}

TEST(a_day_is_kept_and_no_more)
{
    for (unsigned i = 0; i < HISTORY_MINUTES + 10; i++) {
        played.bytes[0] += 60;
        look_at(BEGIN + i * UINT64_C(60));
    }
    show(VIEW_HISTORY, NULL, 0, HISTORY_MINUTES + 1); /* and the one that goes on */
    expect(0, "time", "2023-11-14T22:23Z");
}

static void note(enum history_what what, const char *job, const char *who, const char *text)
{
    history_note(history, &(struct history_note){what, job, "lab", who, text});
}

TEST(events_come_in_their_order_and_a_flood_of_one_kind_pushes_out_no_other)
{
    char who[16];

    note(HISTORY_FAILED, "train", "rank 3", "failed (lost)");
    for (unsigned i = 0; i < 10 * HISTORY_EVENTS; i++) {
        snprintf(who, sizeof(who), "10.0.0.%u", i);
        note(HISTORY_REFUSED, "", who, "no");
    }
    seconds++;
    note(HISTORY_OPERATED, "", "root", "reload");
    show(VIEW_EVENTS, NULL, 0, HISTORY_EVENTS + 2);
    expect(0, "what", "failed");
    expect(0, "who", "rank 3");
    expect(HISTORY_EVENTS, "who", who);
    expect(HISTORY_EVENTS, "job", "");
    expect(HISTORY_EVENTS + 1, "what", "operated");
    expect(HISTORY_EVENTS + 1, "time", "2023-11-14T22:14:01Z");
    show(VIEW_EVENTS, "train", 0, 1);
    show(VIEW_EVENTS, "nix", -ENOENT, 0);
}

TEST(the_same_again_and_again_takes_one_place)
{
    note(HISTORY_REFUSED, "train", "10.0.0.1", "no");
    note(HISTORY_OPERATED, "", "root", "reload");
    seconds += 9;
    note(HISTORY_REFUSED, "train", "10.0.0.1", "no");
    show(VIEW_EVENTS, NULL, 0, 2);
    expect(1, "times", "2");
    expect(1, "time", "2023-11-14T22:14:09Z");
}

/* What an operator has asked for quotes what it was about, in whatever language. */
TEST(a_text_may_be_cut_within_a_character)
{
    char text[600] = "";

    for (unsigned i = 0; i < 2; i++) {
        strcpy(text, i == 0 ? "port add " : "port adds ");
        while (strlen(text) < 500)
            strcat(text, "\xc3\xa9"); /* an e with an accent */
        note(HISTORY_OPERATED, "", "root", text);
    }
    show(VIEW_EVENTS, NULL, 0, 2);
    for (unsigned i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(
            strncmp(json_string_value(json_object_get(json_array_get(rows, i), "text")), "port add", 8), 0);
}

TEST(of_what_the_registry_tells_notes_are_left_out)
{
    static const struct ctl_entry job = {.name = "train"};
    struct ctl_event event = {.kind = CTL_EVENT_NOTE, .text = "rank 1 of 4 has joined", .rank = 1};

    history_note_job(history, "lab", &job, &event);
    event = (struct ctl_event){.kind = CTL_EVENT_WARNING, .text = "waits for rank 2", .rank = 2};
    history_note_job(history, "lab", &job, &event);
    event = (struct ctl_event){.kind = CTL_EVENT_ENDS, .text = "over", .rank = CTL_NO_RANK};
    history_note_job(history, "lab", &job, &event);
    show(VIEW_EVENTS, "lab/train", 0, 2);
    expect(0, "what", "warned");
    expect(0, "who", "rank 2");
    expect(1, "what", "ended");
    expect(1, "who", "");
}
