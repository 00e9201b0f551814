#include "published.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "wire/bytes.h"

struct sml_terms published_terms(const struct published_config *cfg)
{
    return (struct sml_terms){.format = XFER_FORMAT_INT32,
                              .mode = cfg->mode,
                              .slots = (uint16_t)(cfg->threads * 2 * cfg->window),
                              .chunk_bytes = (uint16_t)(4 * cfg->elements),
                              .plain = true,
                              .labelled = true,
                              .threads = (uint8_t)cfg->threads};
}

/* How many packets this thread's part of the tensor has; the same at all clients. */
static uint32_t packets_of(const struct published *p, unsigned thread, unsigned tensor)
{
    const uint64_t which = (uint64_t)p->run << 32 | thread << 16 | tensor;

    if (thread > 0 && tensor % p->cfg.rest != 0)
        return 0;
    return (uint32_t)(1 + splitmix_hash(p->cfg.seed ^ which) % p->cfg.packets);
}

static uint32_t element(const struct published *p, unsigned rank, uint64_t packet, unsigned i)
{
    return (uint32_t)splitmix_hash(p->cfg.seed ^ (uint64_t)p->run << 56 ^ (uint64_t)rank << 40 ^
                                   packet << 12 ^ i);
}

/* Told apart from all others of this run. */
static uint64_t number_of(unsigned thread, unsigned tensor, uint32_t packet)
{
    return (uint64_t)thread << 20 | (uint64_t)tensor << 8 | packet;
}

/* As the published client counts slots: the lower half of its range, both versions of it in turn. */
static struct sml_packet header_of(const struct published_client *c, unsigned thread, uint64_t at)
{
    const struct published *p = c->all;
    const unsigned window = p->cfg.window, i = (unsigned)(at % (2 * window));

    return (struct sml_packet){.kind = SML_DATA,
                               .size_code = (uint8_t)sml_size_code(4 * p->cfg.elements),
                               .job = (uint8_t)c->tensor,
                               .tag = (uint32_t)at - c->thread[thread].first,
                               .slot = (uint16_t)(thread * 2 * window + i % window),
                               .ver = i >= window};
}

static void on_timer(void *ctx, uint64_t argument);

/* What an event is about. */
static uint64_t event_of(const struct published *p, unsigned thread, uint64_t at)
{
    return (uint64_t)p->life << 40 | (uint64_t)thread << 32 | at;
}

static void send_packet(struct published_client *c, unsigned thread, uint64_t at)
{
    struct published *p = c->all;
    struct published_thread *t = &c->thread[thread];
    const struct sml_packet h = header_of(c, thread, at);
    uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES];

    sml_build_header(payload, &h);
    for (unsigned i = 0; i < p->cfg.elements; i++)
        put_be32(payload + SML_HEADER_BYTES + 4 * i,
                 element(p, c->rank, number_of(thread, c->tensor, h.tag), i));
    t->sent_at[at % 64] = p->sim->now;
    star_send_up(p->star, p->cfg.first_host + c->rank, (uint16_t)(PUBLISHED_PORT + thread), SML_PORT_FIRST,
                 payload, SML_HEADER_BYTES + 4 * p->cfg.elements, false);
    sim_at(p->sim, p->sim->now + p->cfg.timeout_ns, on_timer, c, event_of(p, thread, at));
}

static bool is_in_flight(const struct published *p, const struct published_thread *t, uint64_t at)
{
    return at >= t->at && at < t->at + p->cfg.window && at < t->first + (uint64_t)t->packets &&
           (t->done >> (at - t->at) & 1) == 0;
}

/* Only the timer of the packet's last copy counts. */
static void on_timer(void *ctx, uint64_t argument)
{
    struct published_client *c = ctx;
    struct published *p = c->all;
    const unsigned thread = argument >> 32 & 0xFF;
    const uint64_t at = argument & UINT32_MAX;
    const struct published_thread *t = &c->thread[thread];

    if (c->runs && argument >> 40 == p->life && is_in_flight(p, t, at) &&
        p->sim->now == t->sent_at[at % 64] + p->cfg.timeout_ns)
        send_packet(c, thread, at);
}

static bool has_ended(const struct published_client *c)
{
    return c->tensor == c->all->cfg.tensors;
}

/* From packet `from` of the client's life on, as many as the window lets. */
static void send_window(struct published_client *c, unsigned thread, uint64_t from)
{
    for (uint64_t at = from; is_in_flight(c->all, &c->thread[thread], at); at++)
        send_packet(c, thread, at);
}

static void begin_tensor(struct published_client *c)
{
    c->busy = 0;
    for (unsigned i = 0; i < c->all->cfg.threads; i++) {
        struct published_thread *t = &c->thread[i];

        t->first = (uint32_t)t->at;
        t->packets = packets_of(c->all, i, c->tensor);
        c->busy += t->packets > 0;
        send_window(c, i, t->at);
    }
}

static void on_gap(void *ctx, uint64_t life)
{
    struct published_client *c = ctx;

    if (c->runs && life == c->all->life)
        begin_tensor(c);
}

static void start_run(void *ctx, uint64_t life);

/* All clients end; the next run begins after a pause in which nobody speaks. */
static void rest(struct published *p)
{
    p->life++;
    for (unsigned r = 0; r < p->cfg.workers; r++)
        p->client[r].runs = false;
    sim_at(p->sim, p->sim->now + p->cfg.pause_ns, start_run, p, p->life);
}

static void kill_clients(void *ctx, uint64_t life)
{
    struct published *p = ctx;

    if (life != p->life || published_are_over(p))
        return;
    sim_trace(p->sim, "published", "all clients are killed in run %u", p->run);
    p->killed++;
    rest(p);
}

static void start_run(void *ctx, uint64_t life)
{
    struct published *p = ctx;

    if (life != p->life || published_are_over(p))
        return;
    p->boots_seen = *p->boots;
    sim_trace(p->sim, "published", "run %u begins", p->run);
    for (unsigned r = 0; r < p->cfg.workers; r++) {
        p->client[r] = (struct published_client){.all = p, .rank = r, .runs = true};
        begin_tensor(&p->client[r]);
    }
    if (rng_below(&p->rng, 3) == 0)
        sim_at(p->sim, p->sim->now + rng_magnitude(&p->rng, 1 * MS, 2 * S), kill_clients, p, p->life);
}

static bool all_have_ended(const struct published *p)
{
    for (unsigned r = 0; r < p->cfg.workers; r++)
        if (!has_ended(&p->client[r]))
            return false;
    return true;
}

static void end_run(struct published *p)
{
    sim_trace(p->sim, "published", "run %u ends", p->run);
    rest(p);
    p->run++;
}

static void check_sum(const struct published *p, unsigned thread, unsigned tensor,
                      const struct sml_packet *packet)
{
    for (unsigned i = 0; i < p->cfg.elements; i++) {
        uint32_t sum = 0;

        for (unsigned r = 0; r < p->cfg.workers; r++)
            sum += element(p, r, number_of(thread, tensor, packet->tag), i);
        if (sum != get_be32(packet->body + 4 * i)) {
            oracle_fail(p->oracle, "static job, run %u, thread %u, tensor %u, packet %u: a wrong sum", p->run,
                        thread, tensor, packet->tag);
            return;
        }
    }
}

/* The packets before the first that is not done are over, and others may go. */
static void advance(struct published_client *c, unsigned thread)
{
    struct published *p = c->all;
    struct published_thread *t = &c->thread[thread];
    const uint64_t sent = t->at + p->cfg.window;

    while (t->done & 1) {
        t->done >>= 1;
        t->at++;
    }
    if (t->at < t->first + (uint64_t)t->packets) {
        send_window(c, thread, sent);
        return;
    }
    p->tensors++;
    if (--c->busy > 0)
        return;
    c->tensor++;
    if (!has_ended(c))
        sim_at(p->sim, p->sim->now + p->cfg.gap_ns, on_gap, c, p->life);
    else if (all_have_ended(p))
        end_run(p);
}

static void take(struct published_client *c, unsigned thread, const uint8_t *payload, size_t bytes)
{
    struct published *p = c->all;
    struct published_thread *t = &c->thread[thread];
    struct sml_packet packet;

    if (!c->runs || has_ended(c) || sml_parse(&packet, payload, bytes) != SML_OK || packet.kind != SML_DATA)
        return;
    const uint64_t at = t->first + (uint64_t)packet.tag;
    const struct sml_packet own = header_of(c, thread, at);
    if (packet.job != own.job || packet.slot != own.slot || packet.ver != own.ver ||
        !is_in_flight(p, t, at) || packet.body_bytes != 4 * p->cfg.elements)
        return;
    check_sum(p, thread, c->tensor, &packet);
    t->done |= UINT64_C(1) << (at - t->at);
    if (t->done & 1)
        advance(c, thread);
}

/* A client whose switch was started anew is started anew, too, as all others: chunks that were in progress
 * are lost with the switch. */
static void on_watch(void *ctx, uint64_t argument)
{
    struct published *p = ctx;

    (void)argument;
    if (published_are_over(p))
        return;
    if (p->boots_seen != *p->boots && p->client[0].runs) {
        sim_trace(p->sim, "published", "the switch was started anew: so are all clients");
        rest(p);
    }
    sim_at(p->sim, p->sim->now + 100 * MS, on_watch, p, 0);
}

bool published_receive(struct published *p, struct frame *f)
{
    const unsigned rank = f->host - p->cfg.first_host, thread = f->host_port - PUBLISHED_PORT;

    if (p->cfg.workers == 0 || f->host < p->cfg.first_host || rank >= p->cfg.workers)
        return false;
    if (!frame_is_dropped(f) && thread < p->cfg.threads)
        take(&p->client[rank], thread, f->payload, f->bytes);
    frame_free(f);
    return true;
}

void published_start(struct published *p, struct sim *sim, struct star *star, struct oracle *oracle,
                     const struct published_config *cfg, const uint64_t *boots)
{
    *p = (struct published){
        .cfg = *cfg, .sim = sim, .star = star, .oracle = oracle, .boots = boots, .rng = cfg->seed};
    if (cfg->workers == 0)
        return;
    p->client = memory_of(cfg->workers * sizeof(*p->client));
    for (unsigned r = 0; r < cfg->workers; r++)
        p->client[r] = (struct published_client){.all = p, .rank = r};
    sim_at(sim, sim->now + rng_below(&p->rng, 100 * MS), start_run, p, 0);
    sim_at(sim, sim->now, on_watch, p, 0);
}

void published_fini(struct published *p)
{
    free(p->client);
}
