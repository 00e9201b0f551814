#include "transfer/messages.h"

#include "wire/roce.h"

enum { WORTH = 16 }; /* a longer message is to spare more than one part in so many */

void xfer_messages_init(struct xfer_messages *m, unsigned limit, unsigned fixed)
{
    *m = (struct xfer_messages){.length = 1, .lengths = 1};
    while (fixed == 0 && m->lengths < XFER_MESSAGE_LENGTHS && 1u << m->lengths <= limit)
        m->lengths++;
    if (m->lengths > 1)
        return;
    m->length = m->chosen = fixed == 0 ? 1 : fixed < limit ? fixed : limit;
    m->trial = XFER_MESSAGE_ROUNDS;
}

static uint64_t median(const uint64_t cost[XFER_MESSAGE_ROUNDS])
{
    uint64_t sorted[XFER_MESSAGE_ROUNDS];

    for (unsigned n = 0; n < XFER_MESSAGE_ROUNDS; n++) {
        unsigned at = n;
        for (; at > 0 && sorted[at - 1] > cost[n]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = cost[n];
    }
    return sorted[XFER_MESSAGE_ROUNDS / 2];
}

static unsigned choose(const struct xfer_messages *m)
{
    uint64_t least = median(m->cost[0]);
    unsigned best = 0;

    for (unsigned i = 1; i < m->lengths; i++) {
        const uint64_t cost = median(m->cost[i]);
        if (cost + least / WORTH < least) {
            least = cost;
            best = i;
        }
    }
    return 1u << best;
}

static void begin_trial(struct xfer_messages *m, unsigned trial)
{
    m->trial = trial;
    m->packets = m->ns = 0;
    if (xfer_messages_measure(m))
        m->length = 1u << trial % m->lengths;
    else
        m->length = m->chosen = choose(m);
}

void xfer_messages_sent(struct xfer_messages *m, unsigned packets, uint64_t ns)
{
    if (m->lengths == 1)
        return;
    m->packets += packets;
    m->ns += ns;
    if (!xfer_messages_measure(m)) {
        if (m->packets >= XFER_MESSAGE_AGAIN)
            begin_trial(m, 0);
        return;
    }
    if (m->packets < XFER_MESSAGE_TRIAL)
        return;
    m->cost[m->trial % m->lengths][m->trial / m->lengths] = m->ns * 1000 / m->packets;
    begin_trial(m, m->trial + 1);
}

static bool can_be_filled(const struct xfer_send *packet, size_t mtu)
{
    const size_t bytes = xfer_send_bytes(packet);

    return bytes < mtu && mtu - bytes <= ROCE_FILL_MAX;
}

unsigned xfer_message_packets(const struct xfer_send packets[], unsigned n, size_t mtu, unsigned length)
{
    const unsigned most = n < length ? n : length;
    unsigned i = 1;

    while (i < most && can_be_filled(&packets[i - 1], mtu))
        i++;
    return i;
}
