#include "nic.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "switchml/pool.h"
#include "wire/roce.h"

#define LATE_NS (100 * US) /* at most, from one packet to the next */

enum {
    PACKET_MAX = SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + XFER_TRAILER_MAX,
    FILLED_MAX = PACKET_MAX + ROCE_FILL_MAX,
};

struct nic_send {
    struct nic_send *next;
    const uint8_t *body; /* in a tensor; NULL: it is behind the head */
    size_t head_bytes, body_bytes;
    size_t fill; /* what follows, up to the next of its message; 0: it ends that */
    uint8_t head[PACKET_MAX];
};

/* In the place of IPv4's and UDP's headers, which ICRCs cover. */
static const uint8_t no_headers[ROCE_IP_UDP_BYTES];

void nic_open(struct nic *nic, struct sim *sim, struct star *star, unsigned host, uint16_t port)
{
    *nic = (struct nic){.sim = sim,
                        .star = star,
                        .host = host,
                        .queue_pair = ROCE_CARRIES | port,
                        .port = port,
                        .rng = splitmix_hash((uint64_t)host << 16 | port)};
}

static size_t cover(uint8_t *payload, size_t bytes, enum roce_opcode opcode, uint32_t queue_pair,
                    uint32_t *number)
{
    roce_cover(no_headers, payload, bytes, opcode, queue_pair, (*number)++ % ROCE_NUMBERS);
    return ROCE_BTH_BYTES + bytes + roce_tail_bytes(bytes);
}

/* As a NIC cuts it: what is in which packet is the MTU's to say. */
static void send_message(struct nic *nic)
{
    uint8_t payload[ROCE_BTH_BYTES + FILLED_MAX + ROCE_TAIL_MAX],
        *message = room_of(XFER_MESSAGE_MAX * FILLED_MAX);
    size_t length = 0;
    bool ends = false;

    while (!ends) {
        struct nic_send *s = nic->first;
        memcpy(message + length, s->head, s->head_bytes);
        length += s->head_bytes;
        if (s->body != NULL) {
            memcpy(message + length, s->body, s->body_bytes);
            length += s->body_bytes;
        }
        if (s->fill > 0)
            roce_fill(message + length, s->fill);
        length += s->fill;
        ends = s->fill == 0;
        nic->first = s->next;
        free(s);
    }
    const unsigned n = (unsigned)((length + nic->mtu - 1) / nic->mtu);
    for (unsigned i = 0; i < n; i++) {
        const size_t at = i * nic->mtu, left = length - at, body = left < nic->mtu ? left : nic->mtu;
        memcpy(payload + ROCE_BTH_BYTES, message + at, body);
        const size_t bytes =
            cover(payload, body, roce_send_opcode(i, n), ROCE_CARRIES | nic->port, &nic->number);
        star_send_up(nic->star, nic->host, ROCE_PORT, ROCE_PORT, payload, bytes, true);
    }
    free(message);
}

static void on_turn(void *ctx, uint64_t unused)
{
    struct nic *nic = ctx;

    (void)unused;
    if (nic->first == NULL)
        return; /* it was settled meanwhile */
    send_message(nic);
    if (nic->first != NULL)
        sim_at(nic->sim, nic->sim->now + rng_below(&nic->rng, LATE_NS), on_turn, nic, 0);
}

static struct nic_send *read_later(const struct xfer_send *send,
                                   bool (*in_tensors)(const void *ctx, const uint8_t *at), const void *ctx)
{
    struct nic_send *s = memory_of(sizeof(*s));
    uint8_t made[PACKET_MAX];
    const uint8_t *body = xfer_send_body(send, made);

    if (body != made && send->body_bytes > 0 && send->checksum == XFER_CHECKSUM_NONE &&
        in_tensors(ctx, body)) {
        s->body = body;
        s->body_bytes = send->body_bytes;
        s->head_bytes = send->head_bytes;
        memcpy(s->head, send->head, send->head_bytes);
    } else {
        s->head_bytes = xfer_send_copy(send, s->head);
    }
    return s;
}

static void append(struct nic *nic, struct nic_send *s)
{
    if (nic->first == NULL) {
        nic->first = s;
        sim_at(nic->sim, nic->sim->now + rng_below(&nic->rng, LATE_NS), on_turn, nic, 0);
    } else {
        nic->last->next = s;
    }
    nic->last = s;
}

void nic_post(struct nic *nic, const struct xfer_send sends[], unsigned n,
              bool (*in_tensors)(const void *ctx, const uint8_t *at), const void *ctx)
{
    for (unsigned i = 0; i < n;) {
        const unsigned length = (unsigned)rng_between(&nic->rng, 1, nic->longest);
        const unsigned end = i + xfer_message_packets(&sends[i], n - i, nic->mtu, length);
        for (; i < end; i++) {
            struct nic_send *s = read_later(&sends[i], in_tensors, ctx);
            s->fill = i + 1 == end ? 0 : nic->mtu - xfer_send_bytes(&sends[i]);
            append(nic, s);
        }
    }
}

void nic_settle(struct nic *nic)
{
    while (nic->first != NULL)
        send_message(nic);
}

void nic_close(struct nic *nic)
{
    for (struct nic_send *s; (s = nic->first) != NULL;) {
        nic->first = s->next;
        free(s);
    }
}

struct nic_end *nic_ends(const struct ctl_entry *job)
{
    uint16_t contributor[AGG_MAX_WORKERS], first[AGG_MAX_WORKERS];
    const unsigned n = ctl_tree_contributors(job, contributor, first);
    struct nic_end *ends = memory_of(n * sizeof(*ends));

    for (unsigned c = 0; c < n; c++)
        ends[c].queue_pair = job->members[first[c]].queue_pair;
    return ends;
}

void nic_send_down(struct star *star, unsigned host, struct nic_end *end, const uint8_t *payload,
                   size_t bytes)
{
    uint8_t covered[ROCE_BTH_BYTES + UINT16_MAX];

    memcpy(covered + ROCE_BTH_BYTES, payload, bytes);
    bytes = cover(covered, bytes, ROCE_SEND_ONLY, end->queue_pair, &end->number);
    star_send_down(star, host, ROCE_PORT, ROCE_PORT, covered, bytes, true);
}

static bool uncover(struct frame *f, uint16_t switch_port)
{
    uint16_t port;
    size_t bytes;

    if (!roce_uncover(no_headers, f->payload, f->bytes, &port, &bytes))
        return false;
    struct buffer *body = buffer_new(f->payload + ROCE_BTH_BYTES, bytes);
    buffer_drop(f->buffer);
    f->buffer = body;
    f->payload = body->at;
    f->bytes = (uint16_t)bytes;
    f->host_port = port;
    f->switch_port = switch_port;
    f->damaged = f->unsummed = false; /* what ICRCs leave out says nothing */
    return true;
}

/* Queue pairs have the numbers that the switch's have for them, so the same function does. */
bool nic_take(const struct nic *nic, struct frame *f)
{
    return uncover(f, ROCE_PORT) && f->host_port == nic->port;
}

bool nic_hear(struct nic_heard *heard, struct frame *f)
{
    const bool alone = f->payload[0] == ROCE_SEND_ONLY, whole = uncover(f, SML_PORT_FIRST);

    heard->sends += whole;
    heard->together += whole && !alone;
    return whole;
}
