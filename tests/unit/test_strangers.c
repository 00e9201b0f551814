/* What a host answers to packets of no job. */
#include "base/strangers.h"

#include <string.h>

#include "atp/protocol.h"
#include "unit.h"
#include "wire/atp.h"
#include "wire/path.h"

enum { SECOND = 1000000000, MS = 1000000, PORTS = 3, FLOODER = 7, OTHER = 8 };

static struct strangers strangers;
static uint8_t payload[64], answer[AGG_ANSWER_BYTES];
static size_t bytes;

static void begin(void)
{
    strangers = (struct strangers){.boot_id = 5, .data_ports = PORTS};
    strangers_init(&strangers, 1);
}

static enum strangers_verdict ask(uint32_t from, uint64_t now)
{
    const struct agg_packet p = {.payload = payload, .bytes = sizeof(payload), .from.ip = from};

    path_build_question(payload, sizeof(payload), 0x1234, 0);
    return strangers_answer(&strangers, &atp_protocol, &p, now, answer, &bytes);
}

/* A packet of a kind that workers send, of no job here. */
static enum strangers_verdict send_ask(uint32_t from, uint64_t now)
{
    const struct atp_packet packet = {.kind = ATP_ASK, .job = 9, .fan_in0 = 1, .bitmap0 = 1};
    struct agg_packet p = {.payload = payload, .bytes = ATP_HEADER_BYTES, .from.ip = from};
    static const struct agg_jobs none;

    atp_build_header(payload, &packet);
    atp_protocol.locate(&none, &p, 1);
    CU_ASSERT_PTR_NULL(p.slot);
    return strangers_answer(&strangers, &atp_protocol, &p, now, answer, &bytes);
}

TEST(a_probe_is_answered_in_its_place)
{
    struct path_answer found;

    begin();
    CU_ASSERT_EQUAL(ask(OTHER, SECOND), STRANGERS_PATH);
    CU_ASSERT_EQUAL(bytes, sizeof(payload));
    CU_ASSERT(path_parse_answer(&found, payload, bytes));
    CU_ASSERT(found.tag == 0x1234 && found.data_ports == PORTS);
}

TEST(a_packet_of_no_job_is_told_so)
{
    begin();
    CU_ASSERT_EQUAL(send_ask(OTHER, SECOND), STRANGERS_REJECT);
    CU_ASSERT(bytes > ATP_HEADER_BYTES && answer[0] == ATP_REJECT && answer[bytes - 1] == 5);
}

TEST(what_no_worker_sends_has_no_answer)
{
    const struct agg_packet p = {.payload = payload, .bytes = 3, .from.ip = OTHER};

    begin();
    memset(payload, 0, sizeof(payload));
    CU_ASSERT_EQUAL(strangers_answer(&strangers, &atp_protocol, &p, SECOND, answer, &bytes),
                    STRANGERS_SILENT);
}

/* One address sends a hundred times in each millisecond, another once. */
static void flood_beside(enum strangers_verdict (*send)(uint32_t from, uint64_t now),
                         enum strangers_verdict answered)
{
    unsigned flooder = 0;

    begin();
    for (uint64_t now = SECOND; now < 2 * (uint64_t)SECOND; now += MS) {
        for (unsigned i = 0; i < 100; i++)
            flooder += send(FLOODER, now) == answered;
        CU_ASSERT_EQUAL(send(OTHER, now), answered);
    }
    CU_ASSERT(flooder > 2400 && flooder < 2600);
}

TEST(one_that_asks_without_end_keeps_no_answer_from_others)
{
    flood_beside(ask, STRANGERS_PATH);
}

TEST(one_that_is_told_without_end_keeps_no_answer_from_others)
{
    flood_beside(send_ask, STRANGERS_REJECT);
}

TEST(neither_kind_takes_the_others_answers)
{
    begin();
    for (uint32_t from = 100; from < 300; from++)
        send_ask(from, SECOND);
    CU_ASSERT_EQUAL(send_ask(OTHER, SECOND), STRANGERS_REJECT_RATE);
    CU_ASSERT_EQUAL(ask(OTHER, SECOND), STRANGERS_PATH);
}
