/* The length of packets to the switch above: searches on ways of several lengths, with losses. */
#include "control/uplink_path.h"

#include <string.h>

#include "unit.h"
#include "wire/path.h"

#define S UINT64_C(1000000000)

enum { HEADERS = 28, NONCE = 0xABCD };

enum { LATE_MAX = 8 };

/* A way that carries packets up to mtu; the first `lost` answers are lost, and all come `late` rounds after
 * their questions. Asks and answers up to so many rounds, until the path has a length; returns how many
 * rounds. */
struct way {
    unsigned mtu, lost, asked, late;
    struct path_questions under_way[LATE_MAX]; /* a ring: those of the last rounds */
};

static void cross(struct uplink_path *p, struct way *way, const struct path_questions *q, uint64_t now)
{
    uint8_t payload[9600];

    for (unsigned i = 0; i < q->n; i++) {
        way->asked++;
        if (q->bytes[i] + HEADERS > way->mtu || way->lost > 0) {
            way->lost -= way->lost > 0;
            continue;
        }
        path_build_question(payload, q->bytes[i], q->tag, 0);
        path_answer(payload, 1);
        CU_ASSERT(uplink_path_answer(p, payload, q->bytes[i], now));
    }
}

static uint64_t search(struct uplink_path *p, struct way *way, uint64_t from)
{
    uint64_t now = from;

    for (unsigned i = 0; i < 200 && p->mtu != way->mtu; i++, now += S / 10) {
        uplink_path_ask(p, now, &way->under_way[i % LATE_MAX]);
        if (i >= way->late)
            cross(p, way, &way->under_way[(i - way->late) % LATE_MAX], now);
    }
    return now;
}

TEST(a_way_that_carries_all_takes_one_question)
{
    struct way way = {.mtu = 1500};
    struct uplink_path p;

    uplink_path_init(&p, 1500, NONCE);
    CU_ASSERT_EQUAL(p.mtu, 0);
    search(&p, &way, S);
    CU_ASSERT_EQUAL(p.mtu, 1500);
    CU_ASSERT_EQUAL(way.asked, 1);
}

TEST(a_narrower_way_is_found_though_answers_are_lost)
{
    struct way way = {.mtu = 1400, .lost = 20};
    struct uplink_path p;

    uplink_path_init(&p, 9000, NONCE);
    search(&p, &way, S);
    CU_ASSERT_EQUAL(p.mtu, 1400);
}

TEST(answers_that_come_rounds_later_count)
{
    for (unsigned late = 1; late < LATE_MAX; late++) {
        struct way way = {.mtu = 1400, .late = late, .lost = 20};
        struct uplink_path p;

        uplink_path_init(&p, 9000, NONCE);
        CU_ASSERT(search(&p, &way, S) < 4 * S);
        CU_ASSERT_EQUAL(p.mtu, 1400);
    }
}

/* The last answers of a search that is over say nothing of how the way is now. */
TEST(answers_to_an_earlier_search_do_not_count)
{
    struct way way = {.mtu = 1500, .late = 3}, narrow = {.mtu = 1280, .late = 3};
    struct uplink_path p;
    uint64_t now;

    uplink_path_init(&p, 9000, NONCE);
    now = search(&p, &way, S);
    CU_ASSERT_EQUAL(p.mtu, 1500);
    for (unsigned i = 0; i < LATE_MAX; i++) /* also those that had come */
        cross(&p, &way, &way.under_way[i], now);
    search(&p, &narrow, now + 61 * S);
    CU_ASSERT_EQUAL(p.mtu, 1280);
}

TEST(an_own_mtu_that_is_not_usual_is_tried_too)
{
    struct way way = {.mtu = 1333};
    struct uplink_path p;

    uplink_path_init(&p, 1333, NONCE);
    search(&p, &way, S);
    CU_ASSERT_EQUAL(p.mtu, 1333);
}

TEST(it_is_asked_again_and_silence_changes_nothing)
{
    struct way way = {.mtu = 1500}, narrow = {.mtu = 1280}, nowhere = {0};
    struct path_questions q;
    struct uplink_path p;
    uint64_t now;

    uplink_path_init(&p, 1500, NONCE);
    now = search(&p, &way, S);
    uplink_path_ask(&p, now + 50 * S, &q);
    CU_ASSERT_EQUAL(q.n, 0);
    now = search(&p, &nowhere, now + 61 * S);
    CU_ASSERT_EQUAL(p.mtu, 1500);
    CU_ASSERT(nowhere.asked > 0);
    search(&p, &narrow, now);
    CU_ASSERT_EQUAL(p.mtu, 1280);
}

TEST(other_payloads_are_no_answers)
{
    struct uplink_path p;
    uint8_t payload[1472];

    uplink_path_init(&p, 1500, NONCE);
    path_build_question(payload, sizeof(payload), 1, 0);
    CU_ASSERT(!uplink_path_answer(&p, payload, sizeof(payload), S));
    path_answer(payload, 1); /* to a question of somebody else's */
    CU_ASSERT(!uplink_path_answer(&p, payload, sizeof(payload), S));
    memset(payload, 0, sizeof(payload));
    CU_ASSERT(!uplink_path_answer(&p, payload, sizeof(payload), S));
    CU_ASSERT_EQUAL(p.mtu, 0);
}
