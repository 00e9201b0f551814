/* ATP's results by the job's group: to whom they go that way, and what becomes of who does not hear it. */
#include "atp_rig.h"
#include "unit.h"

enum { RANKS = 4, MOST = 6000 };

static const struct atp_terms with_group = {.window = 64,
                                            .chunk_bytes = 256,
                                            .per_rack = 64,
                                            .near = ATP_NOT_NEAR,
                                            .servers = 1,
                                            .life = 0x12345678,
                                            .first_sequence = 0xffffffe0,
                                            .group = 1,
                                            .group_port = ATP_GROUP_PORT};

static int32_t in[RANKS][MOST], out[RANKS][MOST];

/* Sums by all ranks, whose results must be right; returns the retransmissions that it took. */
static unsigned sum(enum xfer_collective collective)
{
    const struct xfer_call call = {.collective = (uint8_t)collective, .type = AGG_I32, .op = AGG_SUM};
    struct xfer_stats stats;
    unsigned wrong = 0, again = 0;

    for (unsigned r = 0; r < RANKS; r++) {
        for (unsigned i = 0; i < MOST; i++)
            in[r][i] = (int32_t)(1000 * (r + 1) + i);
        memset(out[r], 0xff, sizeof out[r]);
        atp_stream_stats(rig.stream[r], &stats);
        again -= (unsigned)stats.retransmitted;
        rig_begin(r, &call, in[r], out[r], MOST);
    }
    rig_run(10000);
    for (unsigned r = 0; r < RANKS; r++) {
        CU_ASSERT_EQUAL(atp_stream_status(rig.stream[r]), XFER_DONE);
        atp_stream_stats(rig.stream[r], &stats);
        again += (unsigned)stats.retransmitted;
        for (unsigned i = 0; i < MOST && (collective == XFER_ALLREDUCE || r == 0); i++)
            wrong += out[r][i] != (int32_t)(1000 * RANKS * (RANKS + 1) / 2 + RANKS * i);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    return again;
}

/* Results that the server has made, and packets to single ranks and to the group that came of them. */
struct sent {
    uint64_t results, single, group;
};

static uint64_t single; /* packets to one rank */

static bool counts(const struct rig_packet *packet)
{
    single += !packet->to_server && !packet->by_group && packet->payload[0] == ATP_PARAMETER;
    return false;
}

static struct sent sent_by(enum xfer_collective collective)
{
    const struct sent before = {rig.reasons[ATP_SEND_ALL], single, rig.to_group};

    sum(collective);
    return (struct sent){rig.reasons[ATP_SEND_ALL] - before.results, single - before.single,
                         rig.to_group - before.group};
}

TEST(one_packet_a_result)
{
    for (unsigned aggregators = 0; aggregators <= 256; aggregators += 256) {
        rig_init(RANKS, &with_group, aggregators);
        rig.loses = counts;
        sum(XFER_ALLREDUCE); /* who hears the group is found out */
        const struct sent s = sent_by(XFER_ALLREDUCE);
        CU_ASSERT(s.results > 90 && s.group == s.results && s.single == 0);
        CU_ASSERT_EQUAL(rig.reasons[ATP_HEARS_GROUP], RANKS);
        if (aggregators > 0)
            CU_ASSERT_EQUAL(atp_table_taken(rig.table_job.pool), 0);
    }
}

/* What only one rank wants is not everybody's; and it is no sign that the group is not heard. */
TEST(reduces_go_singly)
{
    rig_init(RANKS, &with_group, 0);
    rig.loses = counts;
    sum(XFER_ALLREDUCE);
    const struct sent s = sent_by(XFER_REDUCE);
    CU_ASSERT(s.group == 0 && s.single == RANKS * s.results);
    const struct sent after = sent_by(XFER_ALLREDUCE);
    CU_ASSERT(after.single == 0 && after.group == after.results);
}

static bool rank_one_is_deaf(const struct rig_packet *packet)
{
    return counts(packet) || (packet->by_group && packet->rank == 1);
}

TEST(who_is_deaf_has_results_singly)
{
    rig_init(RANKS, &with_group, 256);
    rig.loses = rank_one_is_deaf;
    CU_ASSERT_EQUAL(sum(XFER_ALLREDUCE), 0);
    const struct sent s = sent_by(XFER_ALLREDUCE);
    CU_ASSERT(s.single == s.results && s.group >= s.results);
}

static bool nobody_hears(const struct rig_packet *packet)
{
    return counts(packet) || packet->by_group;
}

/* A network that carries the group no longer: the chunks under way are asked for again, then all is as if
 * there were none. When it does once more, it is used again. */
TEST(groups_that_cease)
{
    rig_init(RANKS, &with_group, 256);
    rig.loses = counts;
    sum(XFER_ALLREDUCE);
    rig.loses = nobody_hears;
    CU_ASSERT(sum(XFER_ALLREDUCE) > 0);
    rig.now += 40000000; /* so long after its word, or later, ... */
    sum(XFER_ALLREDUCE); /* ... the last rank takes it back */
    CU_ASSERT_EQUAL(sum(XFER_ALLREDUCE), 0);
    rig.loses = counts;
    rig.now += UINT64_C(10000000000);
    sum(XFER_ALLREDUCE);
    const struct sent s = sent_by(XFER_ALLREDUCE);
    CU_ASSERT(s.single == 0 && s.group == s.results);
}

static bool words_are_lost(const struct rig_packet *packet)
{
    return counts(packet) ||
           (packet->to_server && packet->payload[0] == ATP_GROUP && packet->payload[1] & ATP_HEARS);
}

/* The server has not heard that it is heard: some results that nobody has asked for come one by one, and it
 * is told again at once. */
TEST(words_that_are_lost_are_said_again)
{
    rig_init(RANKS, &with_group, 0);
    rig.loses = words_are_lost;
    sum(XFER_ALLREDUCE);
    CU_ASSERT_EQUAL(rig.reasons[ATP_HEARS_GROUP], 0);
    rig.loses = counts;
    CU_ASSERT(sent_by(XFER_ALLREDUCE).group > 0);
    CU_ASSERT_EQUAL(rig.reasons[ATP_HEARS_GROUP], RANKS);
    CU_ASSERT_EQUAL(rig.reasons[ATP_SEND_GROUP], RANKS); /* nobody has asked anew */
}

TEST(jobs_without_one)
{
    struct atp_terms terms = with_group;

    terms.group = 0;
    rig_init(RANKS, &terms, 0);
    sum(XFER_ALLREDUCE);
    CU_ASSERT(rig.to_group == 0 && rig.reasons[ATP_SEND_GROUP] + rig.reasons[ATP_DROP_BAD_KIND] == 0);
}
