/* swaggctl tree: switches in their places, whoever was asked first, and what is not reached. */
#include <string.h>

#include "tree.h"
#include "unit.h"

/* What a switch tells whose job has three ranks on three levels: 0 at 10.0.0.1, the root; 1 at 10.0.0.2,
 * below it; 2 at 10.0.0.3, below that. */
static json_t *told(const char *ip, const char *parent, int level, int lost)
{
    static const char *const at[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
    json_t *ranks = json_array(), *uplinks = json_array();

    for (int r = 0; r < 3; r++) {
        json_t *rank =
            json_pack("{s:i, s:s, s:s, s:i, s:i}", "rank", r, "state", r + 1 < level ? "above" : "joined",
                      "address", "10.0.1.1:5", "level", r + 1, "lost_up", r < level ? 0 : lost);

        if (r + 1 > level)
            json_object_set_new(rank, "switch", json_string(at[r]));
        json_array_append_new(ranks, rank);
    }
    if (parent != NULL)
        json_array_append_new(uplinks, json_pack("{s:s, s:s}", "parent", parent, "state", "up"));
    return json_pack("{s:{s:s}, s:[{s:s}], s:o, s:[{s:s, s:s, s:i, s:i, s:i, s:o}]}", "status", "ip", ip,
                     "ports", "link", "up", "uplinks", uplinks, "jobs", "name", "train", "state", "running",
                     "level", level, "latest_rank", 2, "latest_us_mean", 7, "ranks", ranks);
}

static const char *text(const json_t *view, const char *table, size_t row, const char *key)
{
    const char *is =
        json_string_value(json_object_get(json_array_get(json_object_get(view, table), row), key));

    return is == NULL ? "" : is;
}

static json_int_t number(const json_t *view, size_t row, const char *key)
{
    return json_integer_value(json_object_get(json_array_get(json_object_get(view, "switches"), row), key));
}

static json_t *view_of(json_t *of_told, json_t *away)
{
    json_t *view = tree_view(of_told, away);

    json_decref(of_told);
    json_decref(away);
    return view;
}

/* An address may be part of another's text. */
TEST(every_host_of_a_job_is_named)
{
    json_t *one = json_pack(
        "{s:{s:s}, s:[], s:[], s:[{s:s, s:s, s:i, s:[{s:i, s:s, s:s, s:i}, {s:i, s:s, s:s, s:i}, {s:i, "
        "s:s, s:s, s:i}]}]}",
        "status", "ip", "10.0.0.254", "ports", "uplinks", "jobs", "name", "train", "state", "running",
        "level", 1, "ranks", "rank", 0, "state", "joined", "address", "10.0.0.12:5", "level", 1, "rank", 1,
        "state", "joined", "address", "10.0.0.1:5", "level", 1, "rank", 2, "state", "joined", "address",
        "10.0.0.12:6", "level", 1);
    json_t *view = view_of(json_pack("[o]", one), json_array());

    CU_ASSERT_STRING_EQUAL(text(view, "jobs", 0, "hosts"), "10.0.0.12,10.0.0.1");
    json_decref(view);
}

TEST(the_root_is_above_whoever_is_asked_first)
{
    json_t *view = view_of(json_pack("[o, o, o]", told("10.0.0.3", "10.0.0.2", 3, 0),
                                     told("10.0.0.1", NULL, 1, 5), told("10.0.0.2", "10.0.0.1", 2, 9)),
                           json_array());

    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(number(view, i, "level"), (json_int_t)i + 1);
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 0, "switch"), "10.0.0.1");
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 2, "above"), "10.0.0.2");
    CU_ASSERT_EQUAL(number(view, 1, "lost_up"), 5); /* once, though two ranks come by that link */
    CU_ASSERT_EQUAL(number(view, 2, "lost_up"), 9);
    CU_ASSERT_STRING_EQUAL(text(view, "jobs", 0, "latest"), "switch 10.0.0.2");
    CU_ASSERT_STRING_EQUAL(text(view, "jobs", 2, "latest"), "rank 2");
    CU_ASSERT_STRING_EQUAL(text(view, "jobs", 1, "ranks_here"), "1");
    tree_indent(view);
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 2, "switch"), "    10.0.0.3");
    json_decref(view);
}

TEST(who_is_only_named_is_not_reached)
{
    json_t *view = view_of(json_pack("[o]", told("10.0.0.2", "10.0.0.1", 2, 0)),
                           json_pack("[{s:s, s:s}]", "address", "10.1.0.1:9273", "state", "away: x"));

    CU_ASSERT_STRING_EQUAL(text(view, "switches", 0, "switch"), "10.0.0.1");
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 0, "state"), "not reached");
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 1, "state"), "up");
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 2, "switch"), "10.0.0.3");
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 2, "state"), "not reached");
    CU_ASSERT_STRING_EQUAL(text(view, "switches", 3, "state"), "away: x");
    json_decref(view);
}

TEST(switches_above_each_other_are_shown_once)
{
    json_t *view =
        view_of(json_pack("[o, o]", told("10.0.0.1", "10.0.0.2", 1, 1), told("10.0.0.2", "10.0.0.1", 1, 1)),
                json_array());

    CU_ASSERT_EQUAL(json_array_size(json_object_get(view, "jobs")), 2);
    json_decref(view);
}

TEST(what_is_no_switch_changes_nothing)
{
    json_t *view = view_of(json_pack("[{}, [], n]"), json_array());

    CU_ASSERT_EQUAL(json_array_size(json_object_get(view, "switches")), 1);
    json_decref(view);
}
