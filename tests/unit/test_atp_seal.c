/* ATP's jobs whose packets end with a CRC32C, or are keyed: what is damaged or forged on the way is never in
 * a sum, and is named by whoever sees it first. */
#include "atp_rig.h"
#include "random.h"
#include "unit.h"
#include "wire/atp.h"

enum { COUNT = 3000, RANKS = 4, FEWEST = 6 /* rounds: all kinds of them */ };

static struct atp_terms terms_of(enum xfer_checksum seal)
{
    return (struct atp_terms){.window = 32,
                              .chunk_bytes = 256,
                              .per_rack = 64,
                              .near = ATP_NOT_NEAR,
                              .servers = 1,
                              .checksum =
                                  seal == XFER_CHECKSUM_CRC32C ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE,
                              .keyed = seal == XFER_CHECKSUM_KEYED,
                              .life = 0x12345678,
                              .first_sequence = 0xffffffe0};
}

static int32_t in[RANKS][COUNT], out[RANKS][COUNT];
static uint64_t rng;

/* An allreduce or a reduce to rank 1, whose sums must come out. */
static void sum(enum xfer_collective collective)
{
    const uint32_t root = collective == XFER_REDUCE ? 1 : 0;
    const struct xfer_call call = {
        .collective = (uint8_t)collective, .type = AGG_I32, .op = AGG_SUM, .root = root};
    unsigned wrong = 0;

    for (unsigned r = 0; r < RANKS; r++) {
        for (unsigned i = 0; i < COUNT; i++) {
            in[r][i] = (int32_t)(1000 * (r + 1) + i);
            out[r][i] = -1;
        }
        rig_begin(r, &call, in[r], out[r], COUNT);
    }
    rig_run(2000);
    for (unsigned r = 0; r < RANKS; r++) {
        CU_ASSERT_EQUAL(atp_stream_status(rig.stream[r]), XFER_DONE);
        for (unsigned i = 0; i < COUNT && (collective == XFER_ALLREDUCE || r == root); i++)
            wrong += out[r][i] != (int32_t)(1000 * RANKS * (RANKS + 1) / 2 + RANKS * i);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static uint64_t damaged_at_ranks(void)
{
    uint64_t n = 0;

    for (unsigned r = 0; r < RANKS; r++) {
        struct xfer_stats stats;
        atp_stream_stats(rig.stream[r], &stats);
        n += stats.damaged;
    }
    return n;
}

/* One bit in one of thirty packets. */
static void flip_bits(struct rig_packet *p)
{
    if (rng_below(&rng, 30) == 0)
        p->payload[rng_below(&rng, p->bytes)] ^= (uint8_t)(1u << rng_below(&rng, 8));
}

TEST(damage)
{
    static const uint32_t aggregators[] = {0, 2, 64};
    uint64_t at_servers[XFER_CHECKSUM_KEYED + 1] = {0}, at_switches = 0;

    for (unsigned round = 0; round < FEWEST || round < unit_cases(24); round++) {
        const enum xfer_checksum seal = round / 3 % 2 ? XFER_CHECKSUM_KEYED : XFER_CHECKSUM_CRC32C;
        const struct atp_terms terms = terms_of(seal);

        rng = round;
        rig_init(RANKS, &terms, aggregators[round % 3]);
        rig.meddles = flip_bits;
        sum(XFER_ALLREDUCE);
        sum(XFER_REDUCE);
        CU_ASSERT(damaged_at_ranks() > 0);
        CU_ASSERT_EQUAL(rig.reasons[ATP_DROP_BAD_RANKS] + rig.reasons[ATP_SEND_MISMATCH], 0);
        at_servers[seal] +=
            rig.reasons[seal == XFER_CHECKSUM_KEYED ? ATP_DROP_UNPROVEN : ATP_DROP_BAD_CHECKSUM];
        at_switches += rig.switch_reasons[ATP_SWITCH_BAD_CHECKSUM];
    }
    CU_ASSERT(at_servers[XFER_CHECKSUM_CRC32C] > 0 && at_servers[XFER_CHECKSUM_KEYED] > 0 && at_switches > 0);
}

/* Switches add what has a CRC32C, and nothing that is keyed. */
TEST(what_switches_add)
{
    for (unsigned seal = XFER_CHECKSUM_CRC32C; seal <= XFER_CHECKSUM_KEYED; seal++) {
        const struct atp_terms terms = terms_of((enum xfer_checksum)seal);

        rig_init(RANKS, &terms, 64);
        sum(XFER_ALLREDUCE);
        if (seal == XFER_CHECKSUM_CRC32C) {
            CU_ASSERT_EQUAL(rig.switch_reasons[ATP_SWITCH_SUM], rig.reasons[ATP_SEND_ALL]);
        } else {
            CU_ASSERT_EQUAL(rig.switch_reasons[ATP_SWITCH_HELD], 0);
            CU_ASSERT(rig.switch_reasons[ATP_SWITCH_KEYED] >= RANKS * rig.reasons[ATP_SEND_ALL]);
        }
        CU_ASSERT_EQUAL(damaged_at_ranks(), 0);
    }
}

/* Sends a packet of the forger's. */
static void forge(bool to_server, unsigned rank, const uint8_t *payload, size_t bytes)
{
    void (*const meddles)(struct rig_packet *) = rig.meddles;

    if (rig.queued > RIG_QUEUE / 2)
        return;
    rig.meddles = NULL;
    rig_put(to_server, rank, payload, bytes);
    rig.meddles = meddles;
}

/* Somebody who sees every packet, and sends others like it: in other ranks' names, with other contents, as
 * packets without a trailer or with a CRC32C, and as ends of the job. */
static void imitate(struct rig_packet *seen)
{
    uint8_t payload[RIG_PAYLOAD];
    const unsigned other = (unsigned)rng_below(&rng, RANKS);
    size_t bytes = seen->bytes;

    if (rng_below(&rng, 6) != 0 || bytes < ATP_HEADER_BYTES + XFER_AUTH_BYTES)
        return;
    memcpy(payload, seen->payload, bytes);
    switch (rng_below(&rng, 5)) {
    case 0: /* the same, from or to another */
        break;
    case 1: /* other elements */
        payload[bytes - 1 - rng_below(&rng, bytes - ATP_HEADER_BYTES)]++;
        break;
    case 2: /* as if it were another kind: answers to ranks */
        payload[0] = (uint8_t)(1 + rng_below(&rng, ATP_KINDS - 1));
        break;
    default: /* without what proves it, perhaps with a checksum */
        payload[23] = (uint8_t)rng_below(&rng, 2);
        payload[0] = rng_below(&rng, 3) == 0 ? ATP_REJECT : payload[0];
        bytes = payload[0] == ATP_REJECT ? ATP_HEADER_BYTES + ATP_BOOT_ID_BYTES : bytes - XFER_AUTH_BYTES;
        payload[bytes - 1]++;
        bytes = atp_seal_append(payload, bytes, NULL, NULL);
    }
    forge(rng_below(&rng, 2), rng_below(&rng, 2) ? seen->rank : other, payload, bytes);
}

TEST(forgers)
{
    static const uint32_t aggregators[] = {0, 2, 64};

    for (unsigned round = 0; round < unit_cases(24); round++) {
        const struct atp_terms terms = terms_of(XFER_CHECKSUM_KEYED);

        rng = 1000 + round;
        rig_init(RANKS, &terms, aggregators[round % 3]);
        rig.meddles = imitate;
        sum(XFER_ALLREDUCE);
        sum(XFER_REDUCE);
        sum(XFER_ALLREDUCE);
        CU_ASSERT(damaged_at_ranks() > 0 && rig.reasons[ATP_DROP_UNPROVEN] > 0);
    }
}

/* Of a job that the server does not know, which anybody may say: the rank is to ask. */
TEST(reject_is_doubted)
{
    const struct atp_terms terms = terms_of(XFER_CHECKSUM_KEYED);
    const struct atp_packet p = {.kind = ATP_GRADIENT,
                                 .job = 3,
                                 .life = terms.life,
                                 .sequence = terms.first_sequence,
                                 .seal = XFER_CHECKSUM_KEYED};
    const struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM};
    uint8_t reject[ATP_REJECT_BYTES];
    struct xfer_send send;

    rig_init(RANKS, &terms, 0);
    rig_begin(0, &call, in[0], out[0], 10);
    CU_ASSERT(atp_stream_poll(rig.stream[0], 1, &send));
    const size_t bytes = atp_build_reject(reject, &p, 1);
    CU_ASSERT_EQUAL(atp_stream_receive(rig.stream[0], reject, bytes, 2), XFER_RX_DOUBT);
    CU_ASSERT_EQUAL(atp_stream_status(rig.stream[0]), XFER_RUNNING);
}

/* A job that has agreed on no checksum takes no packet with one, nor the other way round. */
TEST(other_trailers)
{
    static const uint8_t seals[] = {XFER_CHECKSUM_NONE, XFER_CHECKSUM_CRC32C};

    for (unsigned i = 0; i < 2; i++) {
        const struct atp_terms terms = terms_of((enum xfer_checksum)seals[i]);
        uint8_t payload[ATP_HEADER_BYTES + 64 + XFER_TRAILER_MAX] = {0};
        struct atp_packet p = {.kind = ATP_GRADIENT,
                               .job = 3,
                               .life = terms.life,
                               .sequence = terms.first_sequence,
                               .root = ATP_ALL,
                               .code = agg_code(AGG_I32, AGG_SUM),
                               .bitmap0 = 1,
                               .fan_in0 = RANKS,
                               .seal = seals[1 - i]};

        rig_init(RANKS, &terms, 0);
        atp_build_header(payload, &p);
        rig_put(true, 0, payload, atp_seal_append(payload, ATP_HEADER_BYTES + 64, NULL, NULL));
        rig_deliver();
        CU_ASSERT_EQUAL(rig.reasons[ATP_DROP_BAD_CHECKSUM], 1);
    }
}

/* What switches and receivers note in a packet's flags leaves its trailer as it is; any other flag does not.
 */
TEST(the_trailer_leaves_out_what_is_noted_on_the_way)
{
    static const struct {
        uint8_t kind, noted;
    } kinds[] = {{ATP_GRADIENT, ATP_RESEND | ATP_COLLISION | ATP_ECN | ATP_EDGE},
                 {ATP_PARAMETER, ATP_ECN | ATP_BY_GROUP},
                 {ATP_GROUP, ATP_BY_GROUP},
                 {ATP_RESTORE, 0}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (unsigned flag = 1; flag <= UINT8_MAX; flag <<= 1) {
            const struct atp_packet p = {.kind = kinds[i].kind, .seal = XFER_CHECKSUM_CRC32C};
            uint8_t payload[ATP_HEADER_BYTES + XFER_TRAILER_MAX];
            struct atp_packet changed = p;
            size_t bytes;

            atp_build_header(payload, &p);
            bytes = atp_seal_append(payload, ATP_HEADER_BYTES, NULL, NULL);
            changed.flags = (uint8_t)flag;
            atp_build_header(payload, &changed);
            CU_ASSERT_EQUAL(atp_seal_holds(&changed, payload, bytes, NULL, NULL),
                            (kinds[i].noted & flag) != 0);
        }
}
