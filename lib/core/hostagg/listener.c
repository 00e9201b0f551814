#include "hostagg/listener.h"

void hag_listener_init(struct hag_listener *h, const struct hag_listener_config *cfg, uint32_t *next,
                       uint64_t now)
{
    *h = (struct hag_listener){.cfg = *cfg, .next = next, .due = now + cfg->ask_after_ns};
    for (uint32_t i = 0; i < cfg->slots; i++)
        next[i] = i;
}

static uint32_t *next_of(const struct hag_listener *h, uint32_t sequence)
{
    return &h->next[sequence & (h->cfg.slots - 1u)];
}

bool hag_listener_receive(struct hag_listener *h, const uint8_t *packet, size_t bytes, uint64_t now)
{
    struct hag_packet p;

    if (!hag_parse(&p, packet, bytes) || (p.kind != HAG_DONE && p.kind != HAG_SUM) || p.job != h->cfg.job ||
        p.run != h->cfg.run || p.sequence >= h->cfg.chunks)
        return false;
    if (p.sequence >= *next_of(h, p.sequence))
        *next_of(h, p.sequence) = p.sequence + h->cfg.slots;
    while (h->done<h->cfg.chunks && * next_of(h, h->done)> h->done)
        h->done++;
    h->due = now + h->cfg.ask_after_ns;
    return true;
}

bool hag_listener_ask(struct hag_listener *h, uint64_t now, uint8_t *packet)
{
    const struct hag_packet p = {
        .kind = HAG_ASK, .job = h->cfg.job, .worker = h->cfg.member, .sequence = h->done, .run = h->cfg.run};

    if (hag_listener_is_done(h) || now < h->due)
        return false;
    h->due = now + h->cfg.ask_after_ns;
    h->asked++;
    hag_build_header(packet, &p);
    return true;
}
