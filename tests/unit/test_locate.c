/* Whose packet it is: a member's only, by all that its JOIN came from; everybody else's is dropped by name.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include "aggregate/locate.h"
#include "unit.h"

enum { MEMBERS = 3, SLOTS = 4, CHUNK = 128, DATA_PORT = 40000 };

static const struct jobs_identity us = {.mac = {{2, 0, 0, 0, 0, 0xfe}}, .ip = RTE_BE32(0x0A0000FE)};
static struct jobs jobs;
static struct jobs_plan wish;
static uint8_t number;
static struct rte_mbuf packet;
static _Alignas(2) uint8_t buffer[2048];
static struct frame_udp *const frame = (struct frame_udp *)(void *)buffer;

/* Where a member is; nobody of the job has a rank beyond it. */
static struct frame_end member(uint8_t rank)
{
    return (struct frame_end){.mac = {{2, 0, 0, 0, 1, rank}},
                              .ip = rte_cpu_to_be_32(0x0A000001u + rank),
                              .port = RTE_BE16(DATA_PORT)};
}

static void make_packet(const struct frame_end *from)
{
    const struct frame_end to = {.mac = us.mac, .ip = us.ip};
    uint8_t payload[SML_HEADER_BYTES + CHUNK] = {0};
    const struct sml_packet p = {
        .kind = SML_DATA, .size_code = SML_SIZE_AGREED, .job = number, .e0 = AGG_SUM << 4 | AGG_I32};
    struct frame_payload body = {.at = payload, .bytes = sizeof(payload)};
    struct frame_header h;

    sml_build_header(payload, &p);
    frame_header_init(&h, from, &to);
    frame_write(frame, &h, from->port, &body);
    frame->udp.dst_port = RTE_BE16(SML_PORT_FIRST);
}

static enum drop locate_it(struct work *w)
{
    memset(w, 0, sizeof(*w));
    w->m = &packet;
    return locate(&jobs, w);
}

static enum drop verdict(const struct frame_end *from)
{
    struct work w;

    make_packet(from);
    return locate_it(&w);
}

static void test_a_member_is_known(void)
{
    for (uint8_t rank = 0; rank < MEMBERS; rank++) {
        const struct frame_end from = member(rank);
        struct work w;

        make_packet(&from);
        CU_ASSERT_EQUAL(locate_it(&w), DROP_REASONS);
        CU_ASSERT_EQUAL(w.rank, rank);
        CU_ASSERT_EQUAL(w.switch_port, RTE_BE16(SML_PORT_FIRST));
        CU_ASSERT_PTR_EQUAL(w.job, jobs_find(&jobs, number));
        CU_ASSERT_PTR_NOT_NULL(w.slot);
    }
}

static void test_another_address_or_port_is_foreign(void)
{
    struct frame_end from = member(MEMBERS);

    CU_ASSERT_EQUAL(verdict(&from), DROP_SML_FOREIGN_SENDER);
    from = member(0);
    from.port = RTE_BE16(DATA_PORT + 1);
    CU_ASSERT_EQUAL(verdict(&from), DROP_SML_FOREIGN_SENDER);
}

static void test_no_address_and_no_port_are_nobody(void)
{
    struct frame_end from = member(0);

    from.ip = 0;
    from.port = 0;
    CU_ASSERT_EQUAL(verdict(&from), DROP_SML_FOREIGN_SENDER);
}

static void test_a_members_address_from_another_mac_is_not_believed(void)
{
    for (unsigned byte = 0; byte < sizeof(struct net_mac); byte++) {
        struct frame_end from = member(1);

        from.mac.addr_bytes[byte] ^= 4;
        CU_ASSERT_EQUAL(verdict(&from), DROP_SML_FOREIGN_MAC);
    }
}

static void test_an_unknown_job_is_told_from_a_broken_packet(void)
{
    const struct frame_end from = member(0);
    struct work w;

    make_packet(&from);
    frame->payload[1] ^= 0x80; /* the job's number */
    CU_ASSERT_EQUAL(locate_it(&w), DROP_SML_UNKNOWN_JOB);
    make_packet(&from);
    frame->udp.dgram_len = rte_cpu_to_be_16(sizeof(frame->udp) + SML_HEADER_BYTES - 1);
    CU_ASSERT_EQUAL(locate_it(&w), DROP_SML_TOO_SHORT);
}

static void test_a_slot_that_the_job_lacks_is_none(void)
{
    const struct frame_end from = member(0);
    struct work w;

    make_packet(&from);
    frame->payload[7] = SLOTS; /* the low byte of the slot's number */
    CU_ASSERT_EQUAL(locate_it(&w), DROP_REASONS);
    CU_ASSERT_PTR_NULL(w.slot);
}

static int open_job(void)
{
    char text[AGG_TEXT_MAX];

    jobs.kernels = agg_kernels_best();
    jobs.bytes_max = 1 << 20;
    wish.size = MEMBERS;
    wish.terms.slots = SLOTS;
    wish.terms.chunk_bytes = CHUNK;
    wish.terms.format = SML_FORMAT_TYPED;
    for (uint8_t rank = 0; rank < MEMBERS; rank++) {
        const struct frame_end at = member(rank);

        wish.member[rank] = (struct jobs_member){.mac = at.mac, .ip = at.ip, .udp_port = at.port};
    }
    return jobs_open(&jobs, &wish, &us, &number, text);
}

/* The smallest EAL there is, for the job's memory. */
static int start_eal(void)
{
    char lcore[32];
    char *args[] = {"test",           "--no-huge",         "-m", "64", "--no-pci", "--no-shconf",
                    "--no-telemetry", "--log-level=error", lcore};

    snprintf(lcore, sizeof(lcore), "--lcores=0@%d", sched_getcpu());
    return rte_eal_init(sizeof(args) / sizeof(args[0]), args);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_member_is_known),
        UNIT_TEST(test_another_address_or_port_is_foreign),
        UNIT_TEST(test_no_address_and_no_port_are_nobody),
        UNIT_TEST(test_a_members_address_from_another_mac_is_not_believed),
        UNIT_TEST(test_an_unknown_job_is_told_from_a_broken_packet),
        UNIT_TEST(test_a_slot_that_the_job_lacks_is_none),
        CU_TEST_INFO_NULL,
    };
    int rc;

    packet.buf_addr = buffer;
    if (start_eal() < 0 || open_job() < 0)
        return 1;
    rc = unit_main("locate", tests);
    jobs_free(&jobs);
    return rc;
}
