/* struct agg_protocol (protocol/protocol.h), with SwitchML and with a protocol that is very different: both
 * through the same carrier, which knows neither. */
#include "carrier.h"

#include "protocols.h"
#include "switchml/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"
#include "tally.h"

static void check_reasons(const struct agg_protocol *protocol)
{
    CU_ASSERT_FATAL(protocol->reasons > 0 && protocol->reasons <= AGG_MAX_REASONS);
    for (unsigned i = 0; i < protocol->reasons; i++) {
        const struct agg_reason *r = &protocol->reason[i];
        CU_ASSERT_FATAL(r->name != NULL && r->name[0] != '\0');
        CU_ASSERT_FATAL(r->meaning != NULL && r->meaning[0] != '\0');
        CU_ASSERT(r->action < AGG_ACTIONS);
        CU_ASSERT(!r->strange || r->action == AGG_DROP);
        for (unsigned j = 0; j < i; j++)
            CU_ASSERT_STRING_NOT_EQUAL(r->name, protocol->reason[j].name);
    }
}

/* Telemetry has those of all protocols in one dictionary. */
static void check_that_names_differ(const struct agg_protocol *one, const struct agg_protocol *other)
{
    for (unsigned i = 0; i < one->reasons; i++)
        for (unsigned j = 0; j < other->reasons; j++)
            CU_ASSERT_STRING_NOT_EQUAL(one->reason[i].name, other->reason[j].name);
}

/* Seats that are looked at for all members of a job, one after another, whose addresses are in a row, so many
 * ranks at each. */
static unsigned looked_at(unsigned members, unsigned at_each)
{
    static struct agg_seat seat[2 * AGG_MAX_WORKERS];
    struct agg_job job = {.seat = seat, .seats = agg_seats_for(members)};
    unsigned looked = 0;

    memset(seat, 0, sizeof(seat));
    for (unsigned rank = 0; rank < members; rank++) {
        const struct agg_sender member = {.ip = __builtin_bswap32(0x0A000001 + rank / at_each),
                                          .port = __builtin_bswap16((uint16_t)(48865 + rank % at_each))};
        agg_job_seat(&job, &member, rank, 0);
        const struct agg_seat *found = agg_job_find(&job, &member);

        CU_ASSERT_FATAL(found != NULL && found->rank == rank);
        looked += ((unsigned)(found - seat) - agg_seat_of(&job, found->sender)) % job.seats + 1;
    }
    return looked;
}

/* One after another would be half of them; at random it would be one and a half. */
TEST(a_members_seat_is_found_at_once)
{
    static const unsigned members[] = {8, 64, 256, AGG_MAX_WORKERS};

    for (unsigned i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        for (unsigned at_each = 1; at_each <= 8; at_each *= 8)
            CU_ASSERT(looked_at(members[i], at_each) <= 2 * members[i]);
}

TEST(reasons_of_different_protocols_have_different_names)
{
    unsigned n;
    const struct agg_protocol *const *protocol = agg_protocols(&n);

    for (unsigned i = 0; i < n; i++) {
        check_reasons(protocol[i]);
        for (unsigned j = 0; j < i; j++)
            check_that_names_differ(protocol[i], protocol[j]);
    }
}

TEST(every_reason_has_a_name_and_a_meaning)
{
    check_reasons(&sml_protocol);
    check_reasons(&tally);
    CU_ASSERT_EQUAL(sml_protocol.reasons, SML_REASONS);
    CU_ASSERT_STRING_EQUAL(sml_protocol.reason[SML_DROP_STALE].name, "drop_stale");
}

TEST(protocols_are_found_by_number)
{
    CU_ASSERT_PTR_EQUAL(agg_protocol_find(AGG_PROTOCOL_SWITCHML), &sml_protocol);
    CU_ASSERT_PTR_NULL(agg_protocol_find(0));
    CU_ASSERT_PTR_NULL(agg_protocol_find(AGG_PROTOCOL_IDS));
}

TEST(shard_keys_are_read_within_the_payload)
{
    uint8_t payload[SML_HEADER_BYTES];
    const struct sml_packet p = {.kind = SML_DATA, .size_code = SML_SIZE_AGREED, .slot = 0x1234, .ver = 1};

    sml_build_header(payload, &p);
    CU_ASSERT_EQUAL(agg_shard_key(&sml_protocol.shard_key, payload, sizeof payload), 0x1234);
    CU_ASSERT_EQUAL(agg_shard_key(&sml_protocol.shard_key, payload, 8), 0x1234);
    CU_ASSERT_EQUAL(agg_shard_key(&sml_protocol.shard_key, payload, 7), 0);
    CU_ASSERT_EQUAL(agg_shard_key(&sml_protocol.shard_key, NULL, 0), 0);
}

/* SwitchML */

static struct agg_terms switchml_terms(enum xfer_mode mode)
{
    const struct sml_terms t = {
        .format = XFER_FORMAT_TYPED, .mode = mode, .slots = 4, .chunk_bytes = 64, .first_tag = 100};
    struct agg_terms terms;

    sml_terms_build(&terms, &t);
    return terms;
}

/* Eight i64 of one value, from a rank, in *memory. */
static struct agg_packet contribution(uint8_t memory[SML_HEADER_BYTES + 64], unsigned rank, uint32_t tag,
                                      int64_t value, uint8_t flags)
{
    const struct sml_packet p = {.kind = SML_DATA,
                                 .size_code = SML_SIZE_AGREED,
                                 .job = CARRIER_JOB,
                                 .tag = tag,
                                 .slot = sml_tag_slot(tag, 4),
                                 .ver = sml_tag_ver(tag, 4),
                                 .e0 = AGG_SUM << 4 | AGG_I64,
                                 .e1 = flags};

    sml_build_header(memory, &p);
    for (unsigned i = 0; i < 8; i++)
        memcpy(memory + SML_HEADER_BYTES + 8 * i, &value, sizeof value);
    return (struct agg_packet){.payload = memory, .bytes = SML_HEADER_BYTES + 64, .from = carrier_rank(rank)};
}

static void check_sum(const struct carrier_sent *s, unsigned rank, uint32_t tag, int64_t sum)
{
    struct sml_packet p;
    int64_t x;

    CU_ASSERT(s->to == CARRY_TO_RANK && s->rank == rank);
    CU_ASSERT_FATAL(sml_parse(&p, s->payload, s->bytes) == SML_OK && p.body_bytes == 64);
    memcpy(&x, p.body + 56, sizeof x);
    CU_ASSERT(p.tag == tag && x == sum);
}

static void sum_in_one_burst(enum xfer_mode mode)
{
    const struct agg_terms terms = switchml_terms(mode);
    uint8_t memory[2 * CARRIER_WORKERS + 1][SML_HEADER_BYTES + 64];
    struct agg_packet burst[2 * CARRIER_WORKERS + 1];
    unsigned n = 0;

    carrier_open(&sml_protocol, CARRIER_WORKERS, &terms);
    for (uint32_t tag = 100; tag < 102; tag++)
        for (unsigned r = 0; r < CARRIER_WORKERS; r++, n++)
            burst[n] = contribution(memory[n], r, tag, (int64_t)(tag * (r + 1)), r == 2 ? 0 : SML_FLAG_WANT);
    burst[n] = contribution(memory[n], 1, 100, 0, SML_FLAG_WANT); /* the result was lost: once more */
    carrier_receive(burst, n + 1, 0);

    CU_ASSERT_EQUAL(carrier.counted[SML_HELD], 2 * (CARRIER_WORKERS - 1));
    CU_ASSERT_EQUAL(carrier.counted[SML_SEND_ALL], 2);
    CU_ASSERT_EQUAL(carrier.counted[SML_SEND_ONE], 1);
    CU_ASSERT_EQUAL_FATAL(carrier.sent_n, 2 * CARRIER_WORKERS + 1);
    CU_ASSERT_EQUAL(carrier.kept, 2); /* the frames that the sums began in */
    for (unsigned i = 0; i < 2 * CARRIER_WORKERS; i++) {
        const uint32_t tag = 100 + i / CARRIER_WORKERS;
        if (i % CARRIER_WORKERS != 2)
            check_sum(&carrier.sent[i], i % CARRIER_WORKERS, tag, 10 * tag);
        else /* this rank did not ask for the sum */
            CU_ASSERT_EQUAL(carrier.sent[i].bytes, SML_HEADER_BYTES);
    }
    check_sum(&carrier.sent[2 * CARRIER_WORKERS], 1, 100, 1000);
}

TEST(switchml_sums_a_burst)
{
    sum_in_one_burst(XFER_ON_ARRIVAL);
    sum_in_one_burst(XFER_ORDERED);
}

/* Each fault of a header has a reason of its own. */
TEST(switchml_names_what_is_malformed)
{
    static const struct {
        uint8_t at, value; /* what is wrong in the header */
        enum sml_reason reason;
    } faulty[] = {
        {0, 0xF7, SML_REFUSED_BAD_KIND},
        {0, SML_OPEN << 4, SML_REFUSED_BAD_SIZE_CODE},
        {6, 0x40, SML_REFUSED_BAD_SLOT},
        {0, SML_PROBE << 4, SML_REFUSED_BAD_LENGTH},
    };
    const struct agg_terms terms = switchml_terms(XFER_ON_ARRIVAL);
    uint8_t memory[SML_HEADER_BYTES + 64], answer[AGG_ANSWER_BYTES];

    carrier_open(&sml_protocol, CARRIER_WORKERS, &terms);
    for (unsigned i = 0; i < sizeof(faulty) / sizeof(faulty[0]); i++) {
        struct agg_packet p = contribution(memory, 0, 100, 1, SML_FLAG_WANT);

        memory[faulty[i].at] = faulty[i].value;
        sml_protocol.locate(&carrier.jobs, &p, 1);
        CU_ASSERT_EQUAL(p.reason, faulty[i].reason);
        CU_ASSERT(p.slot == NULL && sml_protocol.reason[p.reason].strange);
        CU_ASSERT_EQUAL(sml_protocol.refuse(&p, 99, answer), 0);
    }
}

TEST(switchml_refuses_strangers)
{
    const struct agg_terms terms = switchml_terms(XFER_ON_ARRIVAL);
    uint8_t memory[6][SML_HEADER_BYTES + 64], answer[AGG_ANSWER_BYTES];
    struct agg_packet p[6];
    struct sml_packet reject;

    carrier_open(&sml_protocol, CARRIER_WORKERS, &terms);
    for (unsigned i = 0; i < 6; i++)
        p[i] = contribution(memory[i], 0, 100, 1, SML_FLAG_WANT);
    p[0].bytes = SML_HEADER_BYTES - 1;
    memory[1][1] = CARRIER_JOB + 1;
    p[2].from.port ^= 1;
    p[3].from.mac[5] ^= 1;
    memory[4][7] = 200; /* its slot; the job has four */
    sml_protocol.locate(&carrier.jobs, p, 6);
    CU_ASSERT_EQUAL(p[0].reason, SML_REFUSED_TOO_SHORT);
    CU_ASSERT_EQUAL(p[1].reason, SML_REFUSED_UNKNOWN_JOB);
    CU_ASSERT_EQUAL(p[2].reason, SML_REFUSED_FOREIGN_SENDER);
    CU_ASSERT_EQUAL(p[3].reason, SML_REFUSED_FOREIGN_MAC);
    CU_ASSERT_EQUAL(p[4].reason, SML_DROP_BAD_SLOT);
    for (unsigned i = 0; i < 5; i++)
        CU_ASSERT(p[i].slot == NULL && sml_protocol.reason[p[i].reason].strange == (i != 4));
    CU_ASSERT_PTR_NOT_NULL(p[5].slot);
    for (unsigned i = 0; i < 4; i++) {
        size_t n = sml_protocol.refuse(&p[i], 99, answer);
        CU_ASSERT_EQUAL(n > 0, i == 1 || i == 2);
        if (n > 0)
            CU_ASSERT(sml_parse(&reject, answer, n) == SML_OK && reject.kind == SML_REJECT);
    }
    carrier_receive(p, 6, 0); /* among packets that count */
    CU_ASSERT_EQUAL(carrier.counted[SML_HELD], 1);
    CU_ASSERT_EQUAL(carrier.counted[SML_REFUSED_FOREIGN_MAC], 1);
    CU_ASSERT_EQUAL(carrier.sent_n, 0);
}

/* A published client that is in no job would take an answer for a sum. */
TEST(what_a_published_client_may_have_sent_is_not_answered)
{
    const struct agg_terms terms = switchml_terms(XFER_ON_ARRIVAL);
    uint8_t memory[SML_HEADER_BYTES + 128] = {SML_DATA << 4 | SML_SIZE_32, CARRIER_JOB + 1};
    uint8_t answer[AGG_ANSWER_BYTES];
    struct agg_packet p = contribution(memory, 0, 100, 1, SML_FLAG_WANT);

    carrier_open(&sml_protocol, CARRIER_WORKERS, &terms);
    memory[0] = SML_DATA << 4 | SML_SIZE_32;
    memory[1] = CARRIER_JOB + 1;
    p.bytes = sizeof(memory);
    sml_protocol.locate(&carrier.jobs, &p, 1);
    CU_ASSERT_EQUAL(p.reason, SML_REFUSED_UNKNOWN_JOB);
    CU_ASSERT_EQUAL(sml_protocol.refuse(&p, 99, answer), 0);
}

/* By its address alone, whatever job its packets name; by its UDP port it is known which thread it is. */
TEST(members_of_static_jobs_are_found_by_address)
{
    const struct agg_terms terms = switchml_terms(XFER_ON_ARRIVAL);
    struct agg_senders *senders = calloc(1, sizeof(*senders) + 8 * sizeof(senders->entry[0]));
    uint8_t memory[SML_HEADER_BYTES + 64];
    struct agg_packet p;

    carrier_open(&sml_protocol, CARRIER_WORKERS, &terms);
    p = contribution(memory, 1, 100, 1, SML_FLAG_WANT);
    senders->entries = 8;
    agg_senders_add(senders, agg_sender_key(&p.from), CARRIER_JOB);
    carrier.jobs.senders = senders;
    for (unsigned named = 0; named < AGG_JOBS; named++) {
        memory[1] = (uint8_t)named;
        sml_protocol.locate(&carrier.jobs, &p, 1);
        CU_ASSERT(p.slot != NULL && p.rank == 1 && p.thread == 0);
    }
    p.from.ip ^= 1; /* a stranger */
    sml_protocol.locate(&carrier.jobs, &p, 1);
    CU_ASSERT_PTR_NULL(p.slot);
    carrier.jobs.senders = NULL;
    free(senders);
}

TEST(slots_can_be_seen)
{
    const struct agg_terms terms = switchml_terms(XFER_ON_ARRIVAL);
    uint8_t memory[SML_HEADER_BYTES + 64];
    struct agg_packet p = contribution(memory, 2, 101, 1, 0);
    struct agg_slot_view view;

    carrier_open(&sml_protocol, CARRIER_WORKERS, &terms);
    carrier_receive(&p, 1, 0);
    CU_ASSERT(sml_protocol.view(carrier.job->pool, 1, &view));
    CU_ASSERT(view.chunk == 101 && view.contributed == 1 && view.ranks[0] == 1 << 2);
    CU_ASSERT(sml_protocol.view(carrier.job->pool, 3, &view) && view.contributed == 0);
    CU_ASSERT(!sml_protocol.view(carrier.job->pool, 4, &view));
}

/* The other one */

TEST(a_protocol_that_passes_packets_on)
{
    const struct agg_terms terms = tally_terms(4);
    uint8_t memory[][TALLY_BYTES] = {{CARRIER_JOB, 1, TALLY_COUNT},  {CARRIER_JOB, 1, TALLY_WATCH},
                                     {CARRIER_JOB, 1, TALLY_COUNT},  {CARRIER_JOB, 1, TALLY_FORGET},
                                     {CARRIER_JOB, 2, TALLY_FORGET}, {CARRIER_JOB + 1, 1, TALLY_COUNT}};
    struct agg_packet p[6];

    carrier_open(&tally, 1, &terms);
    for (unsigned i = 0; i < 6; i++)
        p[i] = (struct agg_packet){.payload = memory[i], .bytes = TALLY_BYTES};
    carrier_receive(p, 6, 10);
    CU_ASSERT_EQUAL_FATAL(carrier.sent_n, 3);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT(carrier.sent[i].to == CARRY_ONWARD && carrier.sent[i].bytes == TALLY_BYTES);
    CU_ASSERT_EQUAL(carrier.sent[0].payload[2], 1);           /* rewritten */
    CU_ASSERT_EQUAL(carrier.sent[1].payload[2], TALLY_WATCH); /* as it came */
    CU_ASSERT_EQUAL(carrier.sent[2].payload[2], 3);
    CU_ASSERT_EQUAL(carrier.counted[TALLY_FORGOTTEN], 2);
    CU_ASSERT_EQUAL(carrier.counted[TALLY_NO_JOB], 1);

    carrier_tick(10 + TALLY_QUIET_NS - 1);
    CU_ASSERT_EQUAL(carrier.sent_n, 3);
    carrier_tick(10 + TALLY_QUIET_NS);
    CU_ASSERT_EQUAL_FATAL(carrier.sent_n, 5); /* both slots, each once */
    CU_ASSERT(carrier.sent[3].to == CARRY_TO_PARENT && carrier.sent[3].payload[0] == 1);
    CU_ASSERT(carrier.sent[4].to == CARRY_TO_PARENT && carrier.sent[4].payload[0] == 2);
    carrier_tick(10 + 9 * TALLY_QUIET_NS);
    CU_ASSERT_EQUAL(carrier.sent_n, 5);
}
