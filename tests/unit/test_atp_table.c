/* The switch's side of ATP: every arrow of the paper's figure 4, by its number there, and what is ours. */
#include <string.h>

#include "atp/reasons.h"
#include "atp/table.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "unit.h"
#include "wire/atp.h"
#include "wire/bytes.h"

enum { BODY = 64, WORDS = BODY / 4, AGE = 1000, INDEX = 40 };

static struct atp_table *table;
static struct agg_verdict v;
static uint64_t now;
static uint8_t payload[ATP_HEADER_BYTES + BODY + XFER_CALL_BYTES + XFER_TRAILER_MAX];

static unsigned shards;

/* Time matters to a table as long as something in it can get old. */
static void close_table(void)
{
    bool awaits = false;

    if (table == NULL)
        return;
    for (unsigned s = 0; s < shards; s++)
        awaits |= atp_table_awaits_time(table, s);
    CU_ASSERT_EQUAL(awaits, atp_table_taken(table) > 0);
    free(table);
    table = NULL;
}

EACH_TEST(NULL, close_table)

/* Instead of the one before. */
static void open_table(struct atp_table_config cfg)
{
    cfg.chunk_bytes = BODY;
    cfg.max_age_ns = AGE;
    cfg.kernels = kernels_or_exit();
    close_table();
    table = atp_table_init(room_of(atp_table_footprint(&cfg)), &cfg);
    shards = cfg.shards == 0 ? 1 : cfg.shards;
    now = 5;
}

/* What rank `place` of a rack of `fan_in` sends of one chunk; its elements are all 1 << place. */
static struct atp_packet gradient(unsigned place, unsigned fan_in)
{
    return (struct atp_packet){.kind = ATP_GRADIENT,
                               .job = 1,
                               .life = 77,
                               .sequence = 1000,
                               .index = INDEX,
                               .root = ATP_ALL,
                               .code = agg_code(AGG_I32, AGG_SUM),
                               .fan_in0 = (uint8_t)fan_in,
                               .fan_in1 = 2,
                               .bitmap0 = UINT64_C(1) << place};
}

static uint8_t network; /* of all senders */

static struct agg_sender at(unsigned host)
{
    return (struct agg_sender){
        .network = network, .ip = 10 + host, .port = 7, .mac = {2, 0, 0, 0, 0, (uint8_t)host}};
}

/* Applies what stands in payload, of so many bytes. */
static enum atp_switch_reason apply_bytes(size_t bytes, unsigned host)
{
    const struct agg_packet raw = {.payload = payload, .bytes = bytes, .from = at(host), .to = at(99)};
    struct atp_packet p;

    CU_ASSERT_EQUAL(atp_parse(&p, payload, bytes), ATP_OK);
    v = (struct agg_verdict){0};
    atp_table_apply(table, atp_table_locate(table, &p), &p, &raw, now, &v);
    return v.reason;
}

/* Its length; its elements are all this. */
static size_t build(const struct atp_packet *p, uint32_t element)
{
    atp_build_header(payload, p);
    for (unsigned i = 0; i < WORDS; i++)
        put_be32(payload + ATP_HEADER_BYTES + 4 * i, element);
    return ATP_HEADER_BYTES + BODY;
}

static enum atp_switch_reason apply_elements(struct atp_packet p, uint32_t element)
{
    return apply_bytes(build(&p, element), p.rack);
}

static enum atp_switch_reason apply(struct atp_packet p)
{
    return apply_elements(p, (uint32_t)(p.bitmap0 | p.bitmap1 << 8));
}

/* The same of a packet with a CRC32C, a bit of whose elements may flip before it arrives. */
static enum atp_switch_reason apply_checked(struct atp_packet p, bool damaged)
{
    p.seal = XFER_CHECKSUM_CRC32C;
    const size_t bytes = atp_seal_append(payload, build(&p, (uint32_t)p.bitmap0), NULL, NULL);
    payload[ATP_HEADER_BYTES + 5] ^= damaged;
    return apply_bytes(bytes, p.rack);
}

static struct atp_packet sent_of(size_t bytes, uint32_t element)
{
    struct atp_packet p = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(v.payload);
    CU_ASSERT_EQUAL(v.bytes, bytes);
    CU_ASSERT_EQUAL(atp_parse(&p, v.payload, v.bytes), ATP_OK);
    for (unsigned i = 0; i < WORDS; i++)
        CU_ASSERT_EQUAL(get_be32(v.payload + ATP_HEADER_BYTES + 4 * i), element);
    return p;
}

/* What was sent, all of whose elements must be this. */
static struct atp_packet sent(uint32_t element)
{
    return sent_of(ATP_HEADER_BYTES + BODY, element);
}

/* The same, with a CRC32C, which is right. */
static struct atp_packet sent_checked(uint32_t element)
{
    const struct atp_packet p = sent_of(ATP_HEADER_BYTES + BODY + XFER_TRAILER_BYTES, element);

    CU_ASSERT(p.seal == XFER_CHECKSUM_CRC32C && atp_seal_holds(&p, v.payload, v.bytes, NULL, NULL));
    return p;
}

/* What is damaged changes nothing; a sum is sealed anew; what passes keeps its trailer. */
TEST(checksums)
{
    struct atp_packet first = gradient(0, 2), second = gradient(1, 2), other = gradient(0, 2), out;

    open_table((struct atp_table_config){.aggregators = 1});
    CU_ASSERT_EQUAL(apply_checked(first, true), ATP_SWITCH_BAD_CHECKSUM);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    CU_ASSERT_EQUAL(apply_checked(first, false), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_checked(second, true), ATP_SWITCH_BAD_CHECKSUM);
    other.sequence++;
    CU_ASSERT_EQUAL(apply_checked(other, false), ATP_SWITCH_COLLISION);
    CU_ASSERT(sent_checked(1).flags & ATP_COLLISION);
    CU_ASSERT_EQUAL(apply(second), ATP_SWITCH_DIFFERS); /* without one */
    CU_ASSERT_EQUAL(apply_checked(second, false), ATP_SWITCH_SUM);
    out = sent_checked(3);
    CU_ASSERT_EQUAL(out.bitmap0, 3);
    out.kind = ATP_PARAMETER;
    CU_ASSERT_EQUAL(apply_checked(out, true), ATP_SWITCH_BAD_CHECKSUM); /* who knows whose */
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
    CU_ASSERT_EQUAL(apply_checked(out, false), ATP_SWITCH_FREED);
    CU_ASSERT_EQUAL(apply_checked(first, false), ATP_SWITCH_HELD);
    now += AGE;
    CU_ASSERT(atp_table_expire(table, 0, now, &v));
    sent_checked(1);
}

/* A switch has no key: it lets pass, whatever that may say. */
TEST(keyed_packets_pass)
{
    struct atp_packet first = gradient(0, 2), keyed = gradient(1, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    keyed.seal = XFER_CHECKSUM_KEYED;
    CU_ASSERT_EQUAL(apply(first), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(keyed), ATP_SWITCH_KEYED);
    keyed.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(keyed), ATP_SWITCH_KEYED);
    keyed.kind = ATP_PARAMETER;
    CU_ASSERT_EQUAL(apply(keyed), ATP_SWITCH_PASSED);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
}

/* Of no rank of its rack: there is nothing that the rack's aggregator could say of it. */
TEST(parts_of_others_pass)
{
    struct atp_packet first = gradient(0, 3), strange = gradient(0, 3);

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(apply(first), ATP_SWITCH_HELD);
    strange.bitmap0 = 0, strange.bitmap1 = 2, strange.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(strange), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(sent(2 << 8).bitmap1, 2);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
}

/* 1: the aggregator is another's. */
TEST(1_collision_passes)
{
    struct atp_packet first = gradient(0, 3), other = gradient(1, 3), out;

    open_table((struct atp_table_config){.aggregators = 1});
    CU_ASSERT_EQUAL(apply(first), ATP_SWITCH_HELD);
    other.sequence++;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    out = sent(2);
    CU_ASSERT_EQUAL(out.flags, ATP_RESEND | ATP_COLLISION | ATP_EDGE);
    CU_ASSERT(out.bitmap0 == 2 && out.sequence == 1001);
    /* Whatever of the identifier differs. */
    other = gradient(1, 3), other.job++;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    other = gradient(1, 3), other.life++;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    other = gradient(1, 3), other.rack++;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    other = gradient(0, 3), other.bitmap0 = 7, other.flags = ATP_EDGE;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
}

/* Another chunk has the only aggregator; these ranks of three meet it, and then the aggregator is free. */
static void pass_by(struct atp_packet p, uint64_t ranks)
{
    struct atp_packet other = gradient(0, 3);

    other.sequence = 5;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_HELD);
    for (unsigned place = 0; place < 3; place++)
        if (ranks >> place & 1) {
            p.bitmap0 = UINT64_C(1) << place;
            CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_COLLISION);
        }
    other.kind = ATP_PARAMETER;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_FREED);
}

/* A chunk finds no aggregator, and then one: the sum of the rest waits for nobody who has passed. */
TEST(the_rest_goes_on)
{
    struct atp_packet p = gradient(1, 3), out;

    open_table((struct atp_table_config){.aggregators = 1});
    pass_by(p, 1);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DUPLICATE);
    CU_ASSERT_EQUAL(apply(gradient(2, 3)), ATP_SWITCH_REST);
    out = sent(6);
    CU_ASSERT(out.bitmap0 == 6 && out.flags == (ATP_RESEND | ATP_COLLISION | ATP_EDGE));
    p = gradient(0, 3), p.sequence++; /* it was sent, so it makes room */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p.kind = ATP_PARAMETER;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_FREED);

    p = gradient(2, 3), p.sequence += 2; /* the last one alone claims nothing */
    pass_by(p, 3);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_REST);
    out = sent(4);
    CU_ASSERT(out.bitmap0 == 4 && out.flags == (ATP_RESEND | ATP_COLLISION | ATP_EDGE));
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

/* What has passed of other chunks, whatever of them differs, is nothing to this one; what has passed of too
 * many is forgotten. */
TEST(the_rest_of_others)
{
    for (unsigned what = 0; what < 7; what++) {
        struct atp_packet p = gradient(1, 2), other = p;
        open_table((struct atp_table_config){.aggregators = 1});
        other.sequence += what == 0 ? 256 : 0;
        other.life += what == 1, other.sequence -= what == 1;
        other.job += what == 2;
        other.rack += what == 3;
        if (what == 4)
            pass_by(p, 1), other.sequence += 256;
        if (what == 5)
            other.flags = ATP_EDGE, other.fan_in0 = 1;
        network = what == 6;
        pass_by(other, 1);
        network = 0;
        CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    }
}

/* 1: the aggregator is empty. */
TEST(1_claim)
{
    const struct atp_packet p = gradient(0, 3);
    struct agg_slot_view view;

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
    CU_ASSERT(atp_table_view(table, INDEX % 7, &view));
    CU_ASSERT(view.chunk == 1000 && view.contributed == 1 && view.ranks[0] == 1);
    CU_ASSERT(!atp_table_view(table, 7, &view));
}

/* 2: a parameter packet frees what is its own. */
TEST(2_parameter_frees)
{
    const struct atp_packet p = gradient(0, 3);
    struct atp_packet parameter = {.kind = ATP_PARAMETER,
                                   .job = 1,
                                   .life = 77,
                                   .sequence = 1001,
                                   .index = INDEX,
                                   .code = agg_code(AGG_I32, AGG_SUM)};

    open_table((struct atp_table_config){.aggregators = 1});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(parameter), ATP_SWITCH_PASSED);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
    parameter.sequence = 1000;
    CU_ASSERT_EQUAL(apply(parameter), ATP_SWITCH_FREED);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    CU_ASSERT_EQUAL(apply(parameter), ATP_SWITCH_PASSED);
}

/* 3: each level has its own fan-in and bitmap. */
TEST(3_levels)
{
    struct atp_packet p = gradient(0, 2), out;

    open_table((struct atp_table_config){.aggregators = 100});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_SUM);
    out = sent(3);
    CU_ASSERT(out.flags == ATP_EDGE && out.bitmap0 == 3 && out.bitmap1 == 0);
    out.index = INDEX + 1; /* another switch, next to the server */
    CU_ASSERT_EQUAL(apply_elements(out, 3), ATP_SWITCH_HELD);
    out.rack = out.child = 1;
    CU_ASSERT_EQUAL(apply_elements(out, 4), ATP_SWITCH_SUM);
    out = sent(7);
    CU_ASSERT(out.flags == ATP_EDGE && out.bitmap0 == 0 && out.bitmap1 == 3);
}

/* Racks of different sizes meet at the server's switch, also in parts. */
TEST(3_unequal_racks)
{
    struct atp_packet whole = gradient(0, 2), small = gradient(0, 1), part, out;

    open_table((struct atp_table_config){.aggregators = 100});
    whole.bitmap0 = 3, whole.flags = ATP_EDGE, whole.fan_in1 = 3;
    small.flags = ATP_EDGE, small.rack = small.child = 1, small.fan_in1 = 3;
    CU_ASSERT_EQUAL(apply_elements(small, 10), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_elements(whole, 5), ATP_SWITCH_HELD);
    part = gradient(3, 4), part.fan_in1 = 3, part.flags = ATP_EDGE | ATP_RESEND, part.rack = part.child = 2;
    CU_ASSERT_EQUAL(apply_elements(part, 1), ATP_SWITCH_PARTIAL);
    out = sent(16);
    CU_ASSERT(out.bitmap0 == 8 && out.fan_in0 == 4 && out.rack == 2 && out.bitmap1 == 3);
}

/* The near rack's ranks are children of the server's switch one by one. */
TEST(3_near_ranks)
{
    struct atp_packet whole = gradient(0, 2), near = gradient(0, 2), out;

    open_table((struct atp_table_config){.aggregators = 100});
    whole.bitmap0 = 3, whole.flags = ATP_EDGE;
    near.bitmap0 = 0, near.bitmap1 = 2, near.child = 1, near.flags = ATP_EDGE;
    CU_ASSERT_EQUAL(apply_elements(whole, 10), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_elements(near, 5), ATP_SWITCH_SUM);
    out = sent(15);
    CU_ASSERT(out.bitmap0 == 0 && out.bitmap1 == 3);
}

/* The same without a word of who is near: the switch of a rack is the server's, too. If the others' sum is
 * here when the rack's is complete, one packet leaves; else the rack's goes first, and theirs waits for
 * nobody. */
TEST(3_near_ranks_that_nobody_knows_of)
{
    struct atp_packet far = gradient(0, 1), near = gradient(0, 2), out;

    far.rack = far.child = 1, far.flags = ATP_EDGE;
    open_table((struct atp_table_config){.aggregators = 100});
    CU_ASSERT_EQUAL(apply_elements(far, 10), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_elements(near, 1), ATP_SWITCH_HELD);
    near.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply_elements(near, 2), ATP_SWITCH_SUM);
    out = sent(13);
    CU_ASSERT(out.flags == ATP_EDGE && out.bitmap0 == 0 && out.bitmap1 == 3);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1); /* the racks', until the result passes */

    far.sequence++, near.sequence++;
    CU_ASSERT_EQUAL(apply_elements(near, 2), ATP_SWITCH_HELD);
    near.bitmap0 = 1;
    CU_ASSERT_EQUAL(apply_elements(near, 1), ATP_SWITCH_SUM);
    out = sent(3);
    CU_ASSERT(out.flags == ATP_EDGE && out.bitmap0 == 3 && out.bitmap1 == 0);
    CU_ASSERT_EQUAL(apply_elements(far, 10), ATP_SWITCH_REST);
    out = sent(10);
    CU_ASSERT(out.bitmap0 == 1 && out.rack == 1 && (out.flags & ATP_EDGE));

    far.fan_in1 = near.fan_in1 = 3; /* the racks' sum is as young as what has joined it */
    open_table((struct atp_table_config){.aggregators = 100});
    CU_ASSERT_EQUAL(apply_elements(far, 10), ATP_SWITCH_HELD);
    now += AGE - 1;
    for (near.bitmap0 = 1; near.bitmap0 <= 2; near.bitmap0++)
        CU_ASSERT_EQUAL(apply_elements(near, 1), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
    now += AGE - 1;
    CU_ASSERT(!atp_table_expire(table, 0, now, &v));
}

/* Copies that the network makes of a rack's packets make its sum once more; it joins the others' once. */
TEST(3_copies_of_near_ranks_join_once)
{
    struct atp_packet far = gradient(0, 1), near = gradient(0, 2);

    far.rack = far.child = 1, far.flags = ATP_EDGE;
    far.fan_in1 = near.fan_in1 = 3;
    open_table((struct atp_table_config){.aggregators = 100});
    CU_ASSERT_EQUAL(apply_elements(far, 10), ATP_SWITCH_HELD);
    for (unsigned copy = 0; copy < 2; copy++) {
        near.bitmap0 = 1;
        CU_ASSERT_EQUAL(apply_elements(near, 1), ATP_SWITCH_HELD);
        near.bitmap0 = 2;
        CU_ASSERT_EQUAL(apply_elements(near, 2), copy == 0 ? ATP_SWITCH_HELD : ATP_SWITCH_SUM);
    }
    CU_ASSERT_EQUAL(sent(3).bitmap0, 3); /* by itself: the server drops it */
    far.rack = far.child = 2;
    CU_ASSERT_EQUAL(apply_elements(far, 20), ATP_SWITCH_SUM);
    CU_ASSERT_EQUAL(sent(33).bitmap1, 7);
}

/* 4: it is in already, and was not sent again. */
TEST(4_duplicate_drops)
{
    struct atp_packet p = gradient(0, 2), q = gradient(1, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DUPLICATE);
    CU_ASSERT_EQUAL(apply(q), ATP_SWITCH_SUM);
    sent(3);
    CU_ASSERT_EQUAL(apply(q), ATP_SWITCH_DUPLICATE);
}

/* 5 and 6: counted, until all of the fan-in are there. The aggregator stays until the result passes. */
TEST(5_6_completes)
{
    open_table((struct atp_table_config){.aggregators = 7});
    for (unsigned place = 0; place < 64; place++) {
        const struct atp_packet p = gradient(place, 64);
        CU_ASSERT_EQUAL(apply_elements(p, place), place < 63 ? ATP_SWITCH_HELD : ATP_SWITCH_SUM);
    }
    CU_ASSERT_EQUAL(sent(63 * 64 / 2).bitmap0, UINT64_MAX);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1);
}

/* 7: at the second level a packet that was sent again takes out the sum, whether it is in it or not. (The
 * paper passes it on alone, and loses the sum.) */
TEST(7_resend_at_the_edge)
{
    struct atp_packet whole = gradient(0, 2), part = gradient(0, 2), out;

    open_table((struct atp_table_config){.aggregators = 7});
    whole.bitmap0 = 3, whole.flags = ATP_EDGE, whole.fan_in1 = 4;
    part.rack = part.child = 1, part.flags = ATP_EDGE | ATP_RESEND, part.fan_in1 = 4;
    CU_ASSERT_EQUAL(apply_elements(whole, 10), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_elements(part, 3), ATP_SWITCH_PARTIAL); /* of a rack that is not in it */
    out = sent(13);
    CU_ASSERT(out.bitmap1 == 1 && out.bitmap0 == 1 && out.rack == 1);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);

    CU_ASSERT_EQUAL(apply_elements(whole, 10), ATP_SWITCH_HELD);
    part.rack = part.child = 0;
    CU_ASSERT_EQUAL(apply_elements(part, 3), ATP_SWITCH_PARTIAL); /* of a rack that is */
    out = sent(10);
    CU_ASSERT(out.bitmap1 == 1 && out.bitmap0 == 0);

    CU_ASSERT_EQUAL(apply_elements(whole, 10), ATP_SWITCH_HELD);
    whole.rack = whole.child = 2, whole.flags |= ATP_RESEND;
    CU_ASSERT_EQUAL(apply_elements(whole, 1), ATP_SWITCH_PARTIAL); /* a whole rack */
    out = sent(11);
    CU_ASSERT(out.bitmap1 == 5 && out.bitmap0 == 0);

    part.flags = ATP_EDGE; /* parts of a rack are added to nothing */
    CU_ASSERT_EQUAL(apply_elements(part, 3), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

/* Where three switches in a row add, what the second has sent out so (a whole rack and a part of another)
 * comes to the third. */
TEST(7_resend_of_a_rack_and_a_part_of_another)
{
    struct atp_packet whole = gradient(0, 2), both = gradient(0, 2), out;

    open_table((struct atp_table_config){.aggregators = 7});
    whole.bitmap0 = 3, whole.flags = ATP_EDGE, whole.fan_in1 = 4, whole.rack = whole.child = 2;
    both.rack = both.child = 1, both.flags = ATP_EDGE | ATP_RESEND, both.fan_in1 = 4, both.bitmap1 = 1;
    CU_ASSERT_EQUAL(apply_elements(whole, 100), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_elements(both, 11), ATP_SWITCH_PARTIAL);
    out = sent(111);
    CU_ASSERT(out.bitmap1 == 5 && out.bitmap0 == 1 && out.rack == 1 && out.child == 1);

    for (unsigned in = 0; in < 2; in++) { /* one of the two is there already: nothing is added twice */
        whole.rack = whole.child = (uint8_t)in;
        CU_ASSERT_EQUAL(apply_elements(whole, 100), ATP_SWITCH_HELD);
        CU_ASSERT_EQUAL(apply_elements(both, 11), ATP_SWITCH_PARTIAL);
        out = sent(100);
        CU_ASSERT(out.bitmap1 == UINT64_C(1) << in && out.bitmap0 == 0);
    }
}

/* 8: sent again, and in already: all that is there goes on. (The paper passes on the packet alone.) */
TEST(8_resend_seen)
{
    struct atp_packet p = gradient(0, 4), out;

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p = gradient(2, 4);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_PARTIAL);
    out = sent(5);
    CU_ASSERT(out.flags == (ATP_RESEND | ATP_EDGE) && out.bitmap0 == 5);
    /* 10 */
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    /* Of the completed sum, too: it was lost behind the switch. */
    CU_ASSERT_EQUAL(apply(gradient(0, 2)), ATP_SWITCH_HELD);
    p = gradient(1, 2);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_SUM);
    p.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_PARTIAL);
    CU_ASSERT_EQUAL(sent(3).bitmap0, 3);
}

/* 9 and 10: sent again, and not in: added, and all goes on; the aggregator is free. */
TEST(9_10_resend_unseen)
{
    struct atp_packet p = gradient(0, 4), out;

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p = gradient(1, 4), p.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_PARTIAL);
    out = sent(3);
    CU_ASSERT(out.bitmap0 == 3 && (out.flags & ATP_RESEND));
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_ALONE); /* and claims nothing */
    CU_ASSERT_EQUAL(sent(2).flags, ATP_RESEND | ATP_EDGE);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

/* A question has no elements, and comes from a rank that need not be in the sum. */
static enum atp_switch_reason ask(struct atp_packet p)
{
    p.kind = ATP_ASK;
    p.code = 0;
    atp_build_header(payload, &p);
    return apply_bytes(atp_seal_append(payload, ATP_HEADER_BYTES, NULL, NULL), 50);
}

/* What there is goes on in the name of a rank that is in it, and the aggregator is free. Where there is
 * nothing, the question goes on. */
TEST(a_question_takes_out_the_sum)
{
    struct atp_packet p = gradient(0, 4), other = gradient(3, 4), out;

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(gradient(2, 4)), ATP_SWITCH_HELD);
    other.sequence++; /* of another chunk: the aggregator is not his */
    CU_ASSERT_EQUAL(ask(other), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(ask(gradient(3, 4)), ATP_SWITCH_ASKED);
    CU_ASSERT_PTR_NOT_NULL_FATAL(v.as);
    CU_ASSERT_EQUAL(v.as->from.ip, at(0).ip);
    out = sent(5);
    CU_ASSERT(out.kind == ATP_GRADIENT && out.flags == (ATP_RESEND | ATP_EDGE) && out.bitmap0 == 5);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    CU_ASSERT_EQUAL(ask(gradient(3, 4)), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(v.bytes, ATP_HEADER_BYTES);
    CU_ASSERT_EQUAL(atp_parse(&out, v.payload, v.bytes), ATP_OK);
    CU_ASSERT(out.kind == ATP_ASK && out.flags == ATP_EDGE);
}

/* The question meets the second level's aggregator as it has passed the first. */
TEST(a_question_at_the_edge)
{
    struct atp_packet whole = gradient(0, 2), p = gradient(1, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    whole.bitmap0 = 3, whole.flags = ATP_EDGE, whole.fan_in1 = 4;
    CU_ASSERT_EQUAL(apply_elements(whole, 10), ATP_SWITCH_HELD);
    p.rack = p.child = 1;
    CU_ASSERT_EQUAL(ask(p), ATP_SWITCH_ALONE);
    p.flags = ATP_EDGE, p.seal = XFER_CHECKSUM_CRC32C;
    CU_ASSERT_EQUAL(ask(p), ATP_SWITCH_ASKED);
    CU_ASSERT_EQUAL(sent(10).bitmap1, 1);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

/* A packet of chunk `sequence`, as gradient() makes them. */
static struct atp_packet of_chunk(uint32_t sequence, unsigned place)
{
    struct atp_packet p = gradient(place, 2);

    p.sequence = sequence;
    return p;
}

static enum atp_switch_reason result_passes(uint32_t sequence)
{
    struct atp_packet p = of_chunk(sequence, 0);

    p.kind = ATP_PARAMETER;
    return apply(p);
}

/* Chunks of one index take the aggregators behind it, as far as they reach, and are found there. */
TEST(taken_ones_have_neighbours)
{
    struct atp_packet p;

    open_table((struct atp_table_config){.aggregators = 100});
    for (unsigned i = 0; i < ATP_REACH; i++) {
        CU_ASSERT_EQUAL(apply(of_chunk(i, 0)), ATP_SWITCH_HELD);
    }
    p = of_chunk(ATP_REACH, 0);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_COLLISION);
    p.index += ATP_REACH; /* behind them there is room */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(of_chunk(3, 0)), ATP_SWITCH_DUPLICATE);
    for (unsigned i = 0; i < ATP_REACH; i++) {
        CU_ASSERT_EQUAL(apply(of_chunk(i, 1)), ATP_SWITCH_SUM);
        sent(3);
    }
    CU_ASSERT_EQUAL(result_passes(0), ATP_SWITCH_FREED); /* the one at home: others are found all the same */
    CU_ASSERT_EQUAL(result_passes(5), ATP_SWITCH_FREED);
    CU_ASSERT_EQUAL(result_passes(5), ATP_SWITCH_PASSED);
    CU_ASSERT_EQUAL(ask(of_chunk(6, 1)), ATP_SWITCH_ASKED);
    CU_ASSERT_EQUAL(sent(3).sequence, 6);
    p = of_chunk(7, 0), p.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_PARTIAL);
    CU_ASSERT_EQUAL(sent(3).sequence, 7);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1 + ATP_REACH - 4);
}

/* Neighbours are of the same shard and part, and begin anew behind the last one. */
TEST(neighbours_are_of_the_same_part)
{
    struct atp_packet p;

    open_table((struct atp_table_config){.aggregators = 16, .shards = 2, .parts = 2});
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(apply(of_chunk(i, 0)), ATP_SWITCH_HELD);
    }
    p = of_chunk(4, 0);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_COLLISION);
    p.index++; /* another shard */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p = of_chunk(4, 0), p.job++; /* another part */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
}

/* What was sent makes room for what was not, but only if nothing is empty. */
TEST(complete_sums_make_room)
{
    struct atp_packet p;

    open_table((struct atp_table_config){.aggregators = 2});
    CU_ASSERT_EQUAL(apply(of_chunk(0, 0)), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(of_chunk(0, 1)), ATP_SWITCH_SUM);
    CU_ASSERT_EQUAL(apply(of_chunk(1, 0)), ATP_SWITCH_HELD); /* an empty one */
    CU_ASSERT_EQUAL(atp_table_taken(table), 2);
    CU_ASSERT_EQUAL(apply(of_chunk(2, 0)), ATP_SWITCH_HELD); /* the one of chunk 0 */
    CU_ASSERT_EQUAL(result_passes(0), ATP_SWITCH_PASSED);
    CU_ASSERT_EQUAL(apply(of_chunk(3, 0)), ATP_SWITCH_COLLISION);
    CU_ASSERT_EQUAL(apply(of_chunk(2, 1)), ATP_SWITCH_SUM);
    sent(3);
    p = of_chunk(3, 0), p.flags = ATP_RESEND; /* such takes none */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(result_passes(2), ATP_SWITCH_FREED);
    CU_ASSERT_EQUAL(apply(of_chunk(1, 1)), ATP_SWITCH_SUM); /* away from home, as before */
    CU_ASSERT_EQUAL(result_passes(1), ATP_SWITCH_FREED);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

/* One result frees what its chunk has at both levels. */
TEST(a_result_frees_both_levels)
{
    struct atp_packet edge = gradient(0, 2), p = gradient(0, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    edge.bitmap0 = 3, edge.flags = ATP_EDGE, edge.fan_in1 = 4;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply_elements(edge, 10), ATP_SWITCH_HELD);
    p.rack++;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(atp_table_taken(table), 3);
    CU_ASSERT_EQUAL(result_passes(1000), ATP_SWITCH_FREED);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

TEST(marks_are_collected)
{
    struct atp_packet p = gradient(0, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    p.flags = ATP_ECN, p.exponent = -5;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p = gradient(1, 2), p.exponent = -7;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_SUM);
    CU_ASSERT_EQUAL(sent(3).flags, ATP_ECN | ATP_EDGE);
    CU_ASSERT_EQUAL(sent(3).exponent, -5);
}

TEST(what_only_the_server_adds)
{
    struct atp_packet p = gradient(0, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    p.flags = ATP_DIRECT;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DIRECT);
    p.flags = 0, p.code = agg_code(AGG_F16, AGG_SUM); /* added in float32 */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DIRECT);
    p = gradient(0, 1), p.fan_in1 = 1; /* nobody to wait for */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
}

/* Packets of different calls never make a sum. */
TEST(differing)
{
    struct atp_packet p = gradient(0, 2);

    open_table((struct atp_table_config){.aggregators = 7});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    p = gradient(1, 2), p.code = agg_code(AGG_F32, AGG_SUM);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DIFFERS);
    p = gradient(1, 2), p.root = 0;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DIFFERS);
    p = gradient(1, 2), p.flags = ATP_OPENING;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DIFFERS);
    p = gradient(1, 2), p.fan_in1 = 5, p.flags = ATP_RESEND;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_DIFFERS);
    CU_ASSERT_EQUAL(sent(2).flags, ATP_RESEND | ATP_EDGE);
    CU_ASSERT_EQUAL(apply(gradient(1, 2)), ATP_SWITCH_SUM);
}

/* A job that has died leaves no aggregator behind. */
TEST(age)
{
    struct atp_packet p = gradient(0, 4), other = gradient(1, 4), out;

    open_table((struct atp_table_config){.aggregators = 2, .shards = 2});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    now += AGE - 1;
    other.sequence++;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    now++;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_AGED);
    out = sent(1);
    CU_ASSERT(out.bitmap0 == 1 && out.sequence == 1000 && out.flags == (ATP_RESEND | ATP_EDGE));
    CU_ASSERT_EQUAL(v.as->to.ip, at(99).ip);
    CU_ASSERT_EQUAL(v.as->from.ip, at(0).ip);
    CU_ASSERT_EQUAL(atp_table_taken(table), 1); /* the other's */
    /* By time alone, a part of the table at a time. */
    now += AGE;
    CU_ASSERT(!atp_table_expire(table, 1, now, &v));
    CU_ASSERT(atp_table_expire(table, 0, now, &v) || atp_table_expire(table, 0, now + 1, &v));
    CU_ASSERT_EQUAL(v.reason, ATP_SWITCH_AGED);
    CU_ASSERT_EQUAL(sent(2).sequence, 1001);
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    CU_ASSERT(!atp_table_expire(table, 0, now + 2, &v));
}

/* A sum to which something was added is as young as that, at either level. */
TEST(age_counts_from_the_last_contribution)
{
    for (unsigned level = 0; level < 3; level++) {
        struct atp_packet p = gradient(0, 4), other = gradient(1, 4);

        p.fan_in1 = 4, p.flags = level > 0 ? ATP_EDGE : 0;
        if (level == 1)
            p.bitmap0 = 0, p.bitmap1 = 1;
        if (level == 2)
            p.bitmap0 = 1, p.fan_in0 = 1; /* a whole rack's */
        open_table((struct atp_table_config){.aggregators = 1});
        CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
        now += AGE - 1;
        if (level == 0)
            p.bitmap0 = 2;
        else if (level == 1)
            p.bitmap1 = 2, p.child = 1;
        else
            p.child = 1;
        CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
        now += AGE - 1;
        other.sequence++;
        CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
        CU_ASSERT(!atp_table_expire(table, 0, now, &v));
        now++;
        CU_ASSERT(atp_table_expire(table, 0, now, &v));
    }
}

/* Jobs of two VLANs may have the same number, life, sequences and indices: their sums never meet, nobody's
 * question takes out another's, and nobody's result frees another's. */
TEST(vlans_are_apart)
{
    struct atp_packet p = gradient(0, 2), result = p;

    result.kind = ATP_PARAMETER;
    open_table((struct atp_table_config){.aggregators = 100});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    network = 1;
    CU_ASSERT_EQUAL(ask(p), ATP_SWITCH_ALONE);
    CU_ASSERT_EQUAL(apply(result), ATP_SWITCH_PASSED);
    p.bitmap0 = 2;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(atp_table_taken(table), 2);
    network = 0;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_SUM);
    CU_ASSERT_EQUAL(sent(3).bitmap0, 3);
    CU_ASSERT_EQUAL(apply(result), ATP_SWITCH_FREED);
    network = 1;
    p.bitmap0 = 1;
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_SUM);
    network = 0;
}

TEST(priority)
{
    struct atp_packet p = gradient(0, 4), other = gradient(1, 4);

    other.job++, other.priority = 1;
    open_table((struct atp_table_config){.aggregators = 1});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    open_table((struct atp_table_config){.aggregators = 1, .preempt = true});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    other.priority = 0; /* equals take nothing from one another */
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    other.priority = 1;
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_PREEMPTED);
    CU_ASSERT(sent(1).job == 1 && v.as->to.ip == at(99).ip);
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_COLLISION);
}

TEST(shards)
{
    struct atp_table_config cfg = {
        .aggregators = 10, .shards = 3, .chunk_bytes = BODY, .max_age_ns = AGE, .kernels = kernels_or_exit()};

    open_table(cfg);
    CU_ASSERT_EQUAL(atp_table_size(table), 9);
    for (unsigned i = 0; i < 9; i++) {
        struct atp_packet p = gradient(0, 2);
        p.index = (uint16_t)i;
        CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD); /* all different */
    }
    CU_ASSERT_EQUAL(atp_table_taken(table), 9);
    open_table((struct atp_table_config){.aggregators = 2, .shards = 3});
    CU_ASSERT_EQUAL(atp_table_size(table), 3); /* one each */
    cfg.aggregators = 0;
    CU_ASSERT_EQUAL(atp_table_footprint(&cfg), 0);
    cfg.aggregators = ATP_MAX_AGGREGATORS + 1;
    CU_ASSERT_EQUAL(atp_table_footprint(&cfg), 0);
}

TEST(parts)
{
    struct atp_packet p = gradient(0, 2), other = p;

    other.job = 2, other.life = 5;
    open_table((struct atp_table_config){.aggregators = 1});
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
    CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_COLLISION);
    open_table((struct atp_table_config){.aggregators = 4, .parts = 2});
    for (unsigned i = 0; i < 2; i++) {
        p.index = other.index = (uint16_t)i;
        p.sequence = other.sequence = i;
        CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_HELD);
        CU_ASSERT_EQUAL(apply(other), ATP_SWITCH_HELD);
    }
    p.index = p.sequence = 2; /* its part is full, and so would the table be */
    CU_ASSERT_EQUAL(apply(p), ATP_SWITCH_COLLISION);
    CU_ASSERT_EQUAL(atp_table_taken(table), 4);
    open_table((struct atp_table_config){.aggregators = 4, .shards = 2, .parts = 3});
    CU_ASSERT_EQUAL(atp_table_size(table), 6); /* one a shard and part */
    CU_ASSERT_EQUAL(
        atp_table_footprint(&(struct atp_table_config){
            .aggregators = 100, .chunk_bytes = BODY, .max_age_ns = AGE, .parts = ATP_MAX_PARTS + 1}),
        0);
}

/* Of two ranks' packets of 1,000 chunks, so many are forwarded. */
static unsigned forwarded(uint32_t ppm, uint64_t seed)
{
    unsigned n = 0;

    open_table((struct atp_table_config){.aggregators = 64, .forward_ppm = ppm, .seed = seed});
    for (unsigned i = 0; i < 1000; i++) {
        struct atp_packet p = gradient(0, 2);
        p.sequence = i;
        const bool passes = apply(p) == ATP_SWITCH_FORWARDED;
        n += passes;
        if (passes)
            CU_ASSERT(sent(1).flags == (ATP_EDGE | ATP_RESEND | ATP_COLLISION) && v.payload == payload);
        p.bitmap0 = 2;
        CU_ASSERT_EQUAL(apply(p), passes ? ATP_SWITCH_FORWARDED : ATP_SWITCH_SUM);
        p.kind = ATP_PARAMETER;
        CU_ASSERT_EQUAL(apply(p), passes ? ATP_SWITCH_PASSED : ATP_SWITCH_FREED);
    }
    CU_ASSERT_EQUAL(atp_table_taken(table), 0);
    return n;
}

TEST(a_share_is_forwarded)
{
    const unsigned half = forwarded(500000, 1);

    CU_ASSERT_EQUAL(forwarded(0, 1), 0);
    CU_ASSERT_EQUAL(forwarded(ATP_ALL_CHUNKS, 1), 1000);
    CU_ASSERT(half > 450 && half < 550);
    CU_ASSERT_EQUAL(forwarded(500000, 1), half);
    CU_ASSERT_NOT_EQUAL(forwarded(500000, 2), half);
    CU_ASSERT_EQUAL(
        atp_table_footprint(&(struct atp_table_config){
            .aggregators = 100, .chunk_bytes = BODY, .max_age_ns = AGE, .forward_ppm = ATP_ALL_CHUNKS + 1}),
        0);
}
