#include "atp_net.h"

#include <stdlib.h>
#include <string.h>

#include "atp/protocol.h"
#include "atp/table.h"
#include "kernels_chosen.h"
#include "memory.h"

struct agg_sender atp_net_sender(unsigned host)
{
    return (struct agg_sender){.ip = 0x0a000000u + host,
                               .port = ATP_NET_PORT,
                               .mac = {2, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host}};
}

unsigned atp_net_host(const struct agg_sender *sender)
{
    return sender->ip - 0x0a000000u;
}

static bool is_sealed(const uint8_t *payload, size_t bytes)
{
    struct atp_packet p;

    return atp_parse(&p, payload, bytes) == ATP_OK && p.seal != XFER_CHECKSUM_NONE;
}

static struct frame *frame_of(const struct atp_net *net, unsigned from, unsigned to, const uint8_t *payload,
                              size_t bytes)
{
    struct frame *f = frame_new(from, (uint16_t)to, ATP_NET_PORT, payload, bytes, is_sealed(payload, bytes));
    const uint8_t kind = atp_peek_kind(payload, bytes);

    if ((kind == ATP_GRADIENT || kind == ATP_PARAMETER) && bytes > ATP_HEADER_BYTES)
        f->filler = net->cfg.filler;
    return f;
}

/* Where it comes from, as its receiver sees it: nothing protects the port of a frame without UDP's checksum.
 */
static struct agg_sender sender_of(const struct frame *f)
{
    struct agg_sender sender = atp_net_sender(f->host);

    sender.port = f->host_port;
    return sender;
}

/* To every host: from the sender's switch to the one next to the servers, from there to all. */
static void flood(struct atp_net *net, unsigned at, struct frame *f)
{
    const bool upward = at != 0 && net->hosts[f->host].at == at;

    if (upward)
        link_send(&net->switches[at].up, frame_copy(f));
    for (unsigned i = 1; at == 0 && i <= net->cfg.racks; i++)
        if (i != net->hosts[f->host].at)
            link_send(&net->switches[i].down, frame_copy(f));
    for (unsigned h = 0; h < net->cfg.hosts; h++)
        if (net->hosts[h].at == at && h != f->host)
            link_send(&net->hosts[h].down, frame_copy(f));
    frame_free(f);
}

/* On from a switch, one cable further. */
static void forward(struct atp_net *net, unsigned at, struct frame *f)
{
    const unsigned to = f->switch_port;

    if (to == ATP_NET_ALL)
        flood(net, at, f);
    else if (net->hosts[to].at == at)
        link_send(&net->hosts[to].down, f);
    else if (at == 0)
        link_send(&net->switches[net->hosts[to].at].down, f);
    else
        link_send(&net->switches[at].up, f);
}

/* Carries out what a table has decided. passing: the frame that came, NULL: none. */
static void carry(struct atp_net *net, unsigned at, struct frame *passing, const struct agg_verdict *v)
{
    net->switches[at].reasons[v->reason]++;
    if (v->action == AGG_PASS_ON)
        forward(net, at, frame_of(net, passing->host, passing->switch_port, v->payload, v->bytes));
    else if (v->action == AGG_SEND_AS)
        forward(net, at,
                frame_of(net, atp_net_host(&v->as->from), atp_net_host(&v->as->to), v->payload, v->bytes));
    else if (v->action == AGG_PASS_AND_KEEP)
        forward(net, at,
                frame_of(net, passing->host, passing->switch_port, passing->payload, passing->bytes));
}

/* The packet in memory of exactly its length, marked if its frame is. */
static uint8_t *copy_of(struct atp_net *net, const struct frame *f)
{
    uint8_t *payload = memory_of(f->bytes);

    memcpy(payload, f->payload, f->bytes);
    if (f->marked)
        atp_protocol.mark(payload, f->bytes);
    net->marked += f->marked;
    return payload;
}

static void at_switch(struct atp_net *net, unsigned at, struct frame *f)
{
    struct atp_net_switch *sw = &net->switches[at];
    struct agg_verdict v;

    if (sw->job.pool == NULL) {
        forward(net, at, f);
        return;
    }
    uint8_t *payload = copy_of(net, f);
    struct agg_packet p = {
        .payload = payload, .bytes = f->bytes, .from = sender_of(f), .to = atp_net_sender(f->switch_port)};
    atp_switch_protocol.locate(&sw->jobs, &p, 1);
    atp_switch_protocol.apply(&p, 1, net->sim->now, &v);
    carry(net, at, f, &v);
    free(payload);
    frame_free(f);
}

static void on_frame(void *ctx, struct frame *f)
{
    const struct atp_net_end *end = ctx;

    const bool to_all = f->switch_port == ATP_NET_ALL;

    if (frame_is_dropped(f) || (to_all && end->host && end->net->hosts[end->number].deaf)) {
        frame_free(f);
    } else if (!end->host) {
        at_switch(end->net, end->number, f);
    } else {
        uint8_t *payload = copy_of(end->net, f);
        if (to_all)
            atp_protocol.note_group(payload, f->bytes);
        const struct agg_sender from = sender_of(f);
        end->net->receive(end->net->ctx, end->number, &from, payload, f->bytes);
        free(payload);
        frame_free(f);
    }
}

static void open_table(struct atp_net *net, unsigned i)
{
    struct atp_net_switch *sw = &net->switches[i];
    struct agg_footprint f;

    if (!net->cfg.adds[i])
        return;
    sw->cfg = (struct agg_pool_config){.kernels = kernels_or_exit()};
    atp_switch_terms_build(&sw->cfg.terms, &net->cfg.table);
    if (!atp_switch_protocol.footprint(&sw->cfg, &f))
        sim_die("no such table");
    sw->job = (struct agg_job){.protocol = &atp_switch_protocol, .pool = memory_of(f.bytes)};
    atp_switch_protocol.init(sw->job.pool, &sw->cfg);
    agg_jobs_set(&sw->jobs, 0, &sw->job);
}

void atp_net_restart(struct atp_net *net, unsigned i)
{
    if (net->cfg.adds[i])
        atp_switch_protocol.init(net->switches[i].job.pool, &net->switches[i].cfg);
}

void atp_net_init(struct atp_net *net, struct sim *sim, const struct atp_net_config *cfg, const unsigned at[],
                  uint64_t *rng, atp_net_receive *receive, void *ctx)
{
    *net = (struct atp_net){.sim = sim, .cfg = *cfg, .receive = receive, .ctx = ctx};
    for (unsigned i = 0; i <= cfg->racks; i++) {
        net->switch_ends[i] = (struct atp_net_end){net, false, i};
        open_table(net, i);
    }
    for (unsigned i = 1; i <= cfg->racks; i++) {
        link_init(&net->switches[i].up, sim, rng, on_frame, &net->switch_ends[0]);
        link_init(&net->switches[i].down, sim, rng, on_frame, &net->switch_ends[i]);
        net->switches[i].up.quality = net->switches[i].down.quality = cfg->cable;
    }
    for (unsigned h = 0; h < cfg->hosts; h++) {
        net->host_ends[h] = (struct atp_net_end){net, true, h};
        net->hosts[h].at = at[h];
        link_init(&net->hosts[h].up, sim, rng, on_frame, &net->switch_ends[at[h]]);
        link_init(&net->hosts[h].down, sim, rng, on_frame, &net->host_ends[h]);
        net->hosts[h].up.quality = net->hosts[h].down.quality = cfg->cable;
        net->hosts[h].down.quality.nap_every = cfg->nap_every;
        net->hosts[h].down.quality.nap_most = cfg->nap_most;
        if (cfg->senders_wait)
            net->hosts[h].up.quality.queue_bytes = net->hosts[h].up.quality.mark_bytes = 0;
    }
}

static void close_link(struct atp_net *net, struct link *link)
{
    net->frames += link->stats.sent;
    net->lost += link->stats.lost + link->stats.overflowed;
    link_fini(link);
}

void atp_net_fini(struct atp_net *net)
{
    for (unsigned i = 0; i <= net->cfg.racks; i++) {
        if (i > 0) {
            close_link(net, &net->switches[i].up);
            close_link(net, &net->switches[i].down);
        }
        free(net->switches[i].job.pool);
    }
    for (unsigned h = 0; h < net->cfg.hosts; h++) {
        close_link(net, &net->hosts[h].up);
        close_link(net, &net->hosts[h].down);
    }
}

void atp_net_send(struct atp_net *net, unsigned from, unsigned to, const uint8_t *payload, size_t bytes)
{
    net->to_all += to == ATP_NET_ALL;
    if (net->overhear != NULL)
        net->overhear(net->ctx, from, to, payload, bytes);
    link_send(&net->hosts[from].up, frame_of(net, from, to, payload, bytes));
}

void atp_net_forge(struct atp_net *net, unsigned forger, unsigned from, unsigned to, const uint8_t *payload,
                   size_t bytes)
{
    link_send(&net->hosts[forger].up, frame_of(net, from, to, payload, bytes));
}

void atp_net_tick(struct atp_net *net)
{
    struct agg_verdict v;

    for (unsigned i = 0; i <= net->cfg.racks; i++)
        while (net->switches[i].job.pool != NULL &&
               atp_switch_protocol.tick(&net->switches[i].job, 0, 1, net->sim->now, &v))
            carry(net, i, NULL, &v);
}

unsigned atp_net_taken(const struct atp_net *net)
{
    unsigned taken = 0;

    for (unsigned i = 0; i <= net->cfg.racks; i++)
        taken += net->switches[i].job.pool != NULL ? atp_table_taken(net->switches[i].job.pool) : 0;
    return taken;
}
