/* How long a NIC's messages are: as a model of what packets cost says, whatever else takes time meanwhile;
 * and which packets can be one. */
#include "transfer/messages.h"

#include "unit.h"
#include "wire/roce.h"

enum { BURST = 64, BODY = 1024 };

/* What a NIC costs: ns a message, and a packet; and what longer messages cost beyond that. */
struct model {
    uint64_t message, packet, gathering;
};

static uint64_t cost(const struct model *c, unsigned length)
{
    const uint64_t messages = (BURST + length - 1) / length;

    return messages * c->message + BURST * (c->packet + c->gathering * (length - 1));
}

/* As much as is measured once; now and then a burst is disturbed. Returns how many bursts that were. */
static unsigned measure(struct xfer_messages *m, const struct model *c)
{
    unsigned n = 0;

    for (; xfer_messages_measure(m); n++)
        xfer_messages_sent(m, BURST, cost(c, m->length) + (n % 27 == 0 ? 3000000 : 0));
    return n;
}

TEST(messages_are_as_long_as_they_gain)
{
    static const struct {
        struct model costs;
        unsigned limit, chosen;
    } runs[] = {
        {{100, 10, 0}, 16, 16}, {{100, 10, 0}, 15, 8}, {{100, 10, 0}, 2, 2},  {{100, 10, 0}, 1, 1},
        {{0, 50, 0}, 16, 1},    {{4, 100, 0}, 16, 1},  {{100, 10, 3}, 16, 4}, {{20, 10, 40}, 16, 1},
    };

    for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        struct xfer_messages m;

        xfer_messages_init(&m, runs[i].limit, 0);
        CU_ASSERT_EQUAL(m.chosen, runs[i].limit == 1);
        measure(&m, &runs[i].costs);
        CU_ASSERT_EQUAL(m.chosen, runs[i].chosen);
        CU_ASSERT_EQUAL(m.length, runs[i].chosen);
    }
}

TEST(it_is_measured_again)
{
    static const struct model dear = {100, 10, 0}, cheap = {0, 50, 0};
    struct xfer_messages m;
    uint64_t packets = 0;

    xfer_messages_init(&m, XFER_MESSAGE_MAX, 0);
    CU_ASSERT_EQUAL(measure(&m, &dear),
                    XFER_MESSAGE_LENGTHS * XFER_MESSAGE_ROUNDS * XFER_MESSAGE_TRIAL / BURST);
    for (; !xfer_messages_measure(&m); packets += BURST) {
        CU_ASSERT_EQUAL(m.length, 16);
        xfer_messages_sent(&m, BURST, 0);
    }
    CU_ASSERT_EQUAL(packets, XFER_MESSAGE_AGAIN);
    CU_ASSERT_EQUAL(m.chosen, 16); /* until it is known better */
    measure(&m, &cheap);
    CU_ASSERT_EQUAL(m.chosen, 1);
}

TEST(what_is_set_is_not_measured)
{
    struct xfer_messages m;

    for (unsigned fixed = 1; fixed <= XFER_MESSAGE_MAX; fixed++) {
        xfer_messages_init(&m, XFER_MESSAGE_MAX, fixed);
        for (unsigned i = 0; i < XFER_MESSAGE_AGAIN / BURST + 2; i++) {
            CU_ASSERT_FALSE(xfer_messages_measure(&m));
            xfer_messages_sent(&m, BURST, 1);
        }
        CU_ASSERT(m.length == fixed && m.chosen == fixed);
    }
}

TEST(what_is_set_is_no_more_than_the_nic_takes)
{
    struct xfer_messages m;

    xfer_messages_init(&m, 8, 16);
    CU_ASSERT(m.length == 8 && m.chosen == 8);
}

/* Of each length by packets of its own number; one trial of five may cost next to nothing, or very much. */
TEST(the_median_by_packet_counts)
{
    struct xfer_messages m;

    xfer_messages_init(&m, 2, 0);
    while (xfer_messages_measure(&m)) {
        const unsigned packets = m.length == 1 ? 256 : 512;
        xfer_messages_sent(&m, packets, m.trial == 0 ? 1 : packets * (m.length == 1 ? 100u : 70u));
    }
    CU_ASSERT_EQUAL(m.chosen, 2);
}

static unsigned of_bodies(const size_t bodies[], unsigned n, unsigned length)
{
    struct xfer_send packets[8] = {0};

    for (unsigned i = 0; i < n; i++) {
        packets[i].head_bytes = 12;
        packets[i].body_bytes = bodies[i];
    }
    return xfer_message_packets(packets, n, BODY, length);
}

/* A NIC cuts at the MTU, so each packet but the last has to be filled up to it: by a byte at least. */
TEST(all_packets_of_a_message_but_the_last_can_be_filled)
{
    enum { FULL = BODY - 12 - 2, LESS = BODY - 12 - ROCE_FILL_MAX, LEAST = LESS - 1, MORE = BODY - 12 };
    static const size_t full[] = {FULL, FULL, FULL, FULL}, last[] = {FULL, FULL, LEAST, FULL},
                        first[] = {LEAST, FULL, FULL, FULL}, exact[] = {FULL, MORE, FULL, FULL},
                        less[] = {LESS, LESS, FULL, FULL};

    CU_ASSERT_EQUAL(of_bodies(full, 4, 16), 4);
    CU_ASSERT_EQUAL(of_bodies(full, 4, 3), 3);
    CU_ASSERT_EQUAL(of_bodies(full, 4, 1), 1);
    CU_ASSERT_EQUAL(of_bodies(full, 1, 16), 1);
    CU_ASSERT_EQUAL(of_bodies(last, 4, 16), 3);
    CU_ASSERT_EQUAL(of_bodies(first, 4, 16), 1);
    CU_ASSERT_EQUAL(of_bodies(exact, 4, 16), 2);
    CU_ASSERT_EQUAL(of_bodies(less, 4, 16), 4);
}
