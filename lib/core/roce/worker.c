#include "roce/worker.h"

#include <string.h>

void rce_worker_init(struct rce_worker *w, const struct rce_worker_config *cfg)
{
    *w = (struct rce_worker){.cfg = *cfg};
    for (unsigned i = 0; i < cfg->queue_pairs; i++)
        w->pair[i] = (struct rce_worker_pair){.version = 1,
                                              .place = cfg->packets,
                                              .comes = cfg->packets,
                                              .number = (cfg->first_queue_pair + i) / 2};
}

static uint8_t *memory_of(const struct rce_worker *w, unsigned index)
{
    return w->cfg.memory + index * rce_worker_message(&w->cfg);
}

static uint64_t address_of(const struct rce_worker *w, unsigned index)
{
    return w->cfg.address + index * rce_worker_message(&w->cfg);
}

/* The pair takes its next message, if there is one. */
static void load(struct rce_worker *w, unsigned index, uint32_t message)
{
    struct rce_worker_pair *pair = &w->pair[index];

    pair->waits = message < w->messages;
    if (!pair->waits)
        return;
    pair->message = message;
    pair->version ^= 1;
    pair->place = 0;
    w->stats.messages++;
}

void rce_worker_begin(struct rce_worker *w, const uint8_t *from, uint8_t *to, uint32_t messages)
{
    w->first += w->messages;
    w->from = from;
    w->to = to;
    w->messages = w->left = messages;
    for (unsigned i = 0; i < w->cfg.queue_pairs; i++)
        load(w, i, i);
}

static uint8_t opcode_at(const struct rce_worker *w, unsigned place)
{
    if (place == w->cfg.packets - 1u)
        return place == 0 ? ROCE_WRITE_ONLY_IMMEDIATE : ROCE_WRITE_LAST_IMMEDIATE;
    return place == 0 ? ROCE_WRITE_FIRST : ROCE_WRITE_MIDDLE;
}

/* Of its message, as the immediate has it. */
static uint16_t number_of(const struct rce_worker *w, const struct rce_worker_pair *pair)
{
    return (uint16_t)(w->first + pair->message);
}

static size_t build(struct rce_worker *w, unsigned index, uint8_t *payload)
{
    struct rce_worker_pair *pair = &w->pair[index];
    const struct roce_packet p = {
        .opcode = opcode_at(w, pair->place),
        .queue_pair = RCE_QUEUE_PAIR | (uint32_t)w->cfg.rank << 16 | index,
        .number = pair->number,
        .address = address_of(w, index),
        .key = 2 * index * w->cfg.packets | pair->version,
        .length = (uint32_t)rce_worker_message(&w->cfg),
        .immediate = {(uint8_t)number_of(w, pair), (uint8_t)(number_of(w, pair) >> 8)},
    };
    const size_t bytes = roce_build_headers(payload, &p);

    memcpy(payload + bytes,
           w->from + pair->message * rce_worker_message(&w->cfg) + pair->place * w->cfg.packet_bytes,
           w->cfg.packet_bytes);
    pair->number = (pair->number + 1) % ROCE_NUMBERS;
    return bytes + w->cfg.packet_bytes + ROCE_ICRC_BYTES;
}

size_t rce_worker_send(struct rce_worker *w, uint64_t now, uint8_t payload[RCE_PACKET_MAX])
{
    for (unsigned i = 0; i < w->cfg.queue_pairs; i++) {
        struct rce_worker_pair *pair = &w->pair[i];

        if (!pair->waits || pair->place == w->cfg.packets)
            continue;
        const size_t bytes = build(w, i, payload);

        pair->place++;
        pair->sent_at = now;
        w->stats.sent++;
        return bytes;
    }
    return 0;
}

/* The NIC tells the client that a message has come. */
static void complete(struct rce_worker *w, unsigned index, const struct roce_packet *p)
{
    const size_t bytes = rce_worker_message(&w->cfg);
    struct rce_worker_pair *pair = &w->pair[index];

    if (!pair->waits || (p->immediate[0] | p->immediate[1] << 8) != number_of(w, pair)) {
        w->stats.others++;
        return;
    }
    memcpy(w->to + pair->message * bytes, memory_of(w, index), bytes);
    w->left--;
    load(w, index, pair->message + w->cfg.queue_pairs);
}

/* Whether a message begins that the NIC lets write. */
static bool may_write(const struct rce_worker *w, unsigned index, const struct roce_packet *p)
{
    return p->key == w->cfg.key && p->address == address_of(w, index) &&
           p->length == rce_worker_message(&w->cfg);
}

/* The NIC takes a message's packets in order; after a gap it waits for the next message. */
static bool follows(struct rce_worker *w, unsigned index, const struct roce_packet *p)
{
    struct rce_worker_pair *pair = &w->pair[index];
    const bool in_order = p->number == pair->expected && pair->comes != w->cfg.packets;

    if (roce_begins(p->opcode))
        pair->comes = may_write(w, index, p) ? 0 : w->cfg.packets;
    else if (!in_order)
        pair->comes = w->cfg.packets;
    pair->expected = (p->number + 1) % ROCE_NUMBERS;
    if (pair->comes != w->cfg.packets && p->body_bytes == w->cfg.packet_bytes &&
        roce_ends(p->opcode) == (pair->comes == w->cfg.packets - 1))
        return true;
    w->stats.voided += pair->comes != w->cfg.packets || !in_order;
    pair->comes = w->cfg.packets;
    return false;
}

void rce_worker_receive(struct rce_worker *w, const uint8_t *payload, size_t bytes)
{
    struct roce_packet p;

    if (roce_parse(&p, payload, bytes) != ROCE_OK ||
        p.queue_pair - w->cfg.first_queue_pair >= w->cfg.queue_pairs) {
        w->stats.bad++;
        return;
    }
    const unsigned index = p.queue_pair - w->cfg.first_queue_pair;
    struct rce_worker_pair *pair = &w->pair[index];

    if (!follows(w, index, &p))
        return;
    memcpy(memory_of(w, index) + pair->comes * w->cfg.packet_bytes, p.body, p.body_bytes);
    pair->comes++;
    if (roce_ends(p.opcode))
        complete(w, index, &p);
}

uint64_t rce_worker_tick(struct rce_worker *w, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < w->cfg.queue_pairs; i++) {
        struct rce_worker_pair *pair = &w->pair[i];

        if (!pair->waits || pair->place != w->cfg.packets)
            continue;
        if (now - pair->sent_at >= w->cfg.timeout_ns) {
            pair->place = 0;
            w->stats.timeouts++;
        } else if (pair->sent_at + w->cfg.timeout_ns < next) {
            next = pair->sent_at + w->cfg.timeout_ns;
        }
    }
    return next;
}
